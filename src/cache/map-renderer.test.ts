import { expect, test } from "vitest";
import { formatNamed, gridSetNamed, layerNamed } from "../../test/support/layer.ts";
import type { TileRect } from "../grid/grid-set.ts";
import type { Composed } from "../image/compose.ts";
import { gridSubset } from "../layer/grid-subset.ts";
import type { MapRefused } from "../render/renderers.ts";
import { type MapLayer, MapRenderer, type MapRequest } from "./map-renderer.ts";
import { failureOf } from "./tile-failure.ts";
import type { TileOutcome } from "./tile-reader.ts";

const subset = gridSubset(gridSetNamed("EPSG:4326"), {});
const format = formatNamed("image/png");
if (format.kind !== "image") throw new Error("PNG is no picture");
const LAYER: MapLayer = {
  layer: layerNamed("a", { gridSubsets: [subset] }),
  subset,
  format,
  parameters: { id: "", values: {} },
  rect: undefined,
  z: 0,
  resampling: "bilinear",
};
const REQUEST: MapRequest = {
  layers: [LAYER],
  format,
  extent: { minX: 0, minY: 0, maxX: 10, maxY: 10 },
  width: 100,
  height: 100,
};
const withTiles = (rect: TileRect): MapRequest => ({ ...REQUEST, layers: [{ ...LAYER, z: rect.z, rect }] });
const tiles = {
  read: () => {
    throw new Error("no tile is requested");
  },
};

test("a map whose client has left is not composed, and a composition in progress gets the abort signal", async () => {
  const gone = new AbortController();
  let signal: AbortSignal | undefined;
  const renderer = new MapRenderer({
    tiles,
    most: 1,
    compose: (_, requested) =>
      new Promise((_resolve, reject) => {
        signal = requested;
        requested.addEventListener("abort", () => reject(requested.reason));
      }),
  });
  const map = renderer.render(REQUEST, { client: "client", gone: gone.signal });
  await expect.poll(() => signal).toBe(gone.signal);
  gone.abort(new Error("gone"));
  expect(await map).toMatchObject({ kind: "failure", failure: { code: "client_gone" } });
  signal = undefined;
  expect(await renderer.render(REQUEST, { client: "client", gone: gone.signal })).toMatchObject({ kind: "failure" });
  expect(signal).toBeUndefined();
});

test("a map too many is refused with a time to ask again", async () => {
  const refused: MapRefused = { kind: "refused", retryAfterSeconds: 5 };
  const renderer = new MapRenderer({ tiles, most: 1, compose: async () => refused });
  expect(await renderer.render(REQUEST, { client: "client", gone: new AbortController().signal })).toMatchObject({
    kind: "failure",
    failure: { code: "too_many_maps", retryAfterSeconds: 5, message: expect.stringContaining("Too many maps") },
  });
});

test("a map has a hole where its source has no tile, and is refused when a reload has removed its layer", async () => {
  const request = withTiles({ z: 0, minX: 0, minY: 0, maxX: 0, maxY: 0 });
  const composed: Composed = { kind: "picture", bytes: new Uint8Array(1) };
  const mapOf = (rendered: Parameters<typeof failureOf>[0]) =>
    new MapRenderer({
      tiles: { read: () => ({ kind: "failure", failure: failureOf(rendered) }) },
      most: 1,
      compose: async () => composed,
    }).render(request, { client: "client", gone: new AbortController().signal });
  const noTile = { kind: "failed", failure: "no_tile", message: "none", retryAfterMs: undefined } as const;
  expect(await mapOf(noTile)).toMatchObject({ kind: "map" });
  expect(await mapOf({ kind: "layer_removed" })).toEqual({
    kind: "failure",
    failure: { code: "layer_removed", message: "The layer has been removed." },
  });
});

test("a map beyond the limit reads no tile, and the end of a map admits the next", async () => {
  const request = withTiles({ z: 1, minX: 0, minY: 0, maxX: 1, maxY: 0 });
  const requester = { client: "client", gone: new AbortController().signal };
  const reads: ((outcome: TileOutcome) => void)[] = [];
  const renderer = new MapRenderer({
    tiles: { read: () => new Promise((resolve) => void reads.push(resolve)) },
    most: 2,
    compose: async () => ({ kind: "picture", bytes: new Uint8Array(1) }),
  });
  const first = renderer.render(request, requester);
  const second = renderer.render(request, requester);
  expect(await renderer.render(request, requester)).toMatchObject({
    failure: { code: "too_many_maps", retryAfterSeconds: 5 },
  });
  expect(reads).toHaveLength(4);
  const noTile = { kind: "failed", failure: "no_tile", message: "none", retryAfterMs: undefined } as const;
  for (const answer of reads.slice(0, 2)) answer({ kind: "failure", failure: failureOf(noTile) });
  expect(await first).toMatchObject({ kind: "map" });
  const third = renderer.render(request, requester);
  expect(reads).toHaveLength(6);
  for (const answer of reads) answer({ kind: "failure", failure: { code: "upstream_failed", message: "none" } });
  expect(await Promise.all([second, third])).toMatchObject([
    { failure: { code: "upstream_failed" } },
    { failure: { code: "upstream_failed" } },
  ]);
});
