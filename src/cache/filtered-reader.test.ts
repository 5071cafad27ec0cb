import { expect, test } from "vitest";
import { formatNamed, layerNamed } from "../../test/support/layer.ts";
import type { RequestFilter, WmsFilter } from "../layer/filter/request-filter.ts";
import type { Layer } from "../layer/layer.ts";
import type { UserAnswer } from "../render/user-renders.ts";
import type { Question } from "../source/source.ts";
import { FilteredReader } from "./filtered-reader.ts";
import { Masks } from "./masks.ts";
import type { TileOutcome } from "./tile-reader.ts";

const RASTER: WmsFilter = {
  type: "wms",
  name: "mask",
  zoomStart: 0,
  zoomStop: 1,
  resample: false,
  preload: false,
  debug: false,
  timeoutSeconds: 1,
};
const READ: TileOutcome = { kind: "failure", failure: { code: "not_cached", message: "the tile was read" } };
/** Of the four tiles of level 1 only the upper left one has data: two rows of one byte each, from the top. */
const UPPER_LEFT = Uint8Array.of(0b1000_0000, 0);

/** Returns a reader of a layer with filters, whose rasters come from `answer`. */
function filtered(filters: readonly RequestFilter[], answer: (asked: Question) => UserAnswer) {
  const layer: Layer = { ...layerNamed("a"), requestFilters: filters };
  const asked: Question[] = [];
  const logged: unknown[] = [];
  const clock = { ms: 0 };
  const masks = new Masks({
    query: async (_layer, question) => {
      asked.push(question);
      return answer(question);
    },
    now: () => clock.ms,
    log: { info: () => undefined, warn: (sentence, fields) => logged.push([sentence, fields]), error: () => undefined },
  });
  const reader = new FilteredReader({ read: () => READ }, masks);
  const [subset] = layer.gridSubsets;
  if (subset === undefined) throw new Error("the layer has no grid set");
  const read = (z: number, x: number, y: number) =>
    reader.read(
      { layer, subset, format: formatNamed("image/png"), parameters: { id: "", values: {} }, index: { x, y, z } },
      () => ({ client: "c", gone: new AbortController().signal }),
    );
  return { layer, masks, read, asked, logged, clock };
}

const info = (bytes: Uint8Array): UserAnswer => ({ kind: "info", info: { contentType: "", bytes } });
const refused = { kind: "filtered", filter: "mask", debug: false };

test("tiles without data in the raster are refused at every level, after one request for each raster", async () => {
  const { read, asked } = filtered([RASTER], () => info(UPPER_LEFT));
  // Two concurrent reads wait for one raster.
  expect(await Promise.all([read(1, 0, 1), read(1, 1, 0)])).toEqual([READ, refused]);
  expect(asked).toHaveLength(1);
  expect(asked[0]).toMatchObject({ kind: "mask", z: 1, width: 2, height: 2, filter: RASTER });
  // A loaded raster answers without a promise.
  expect(read(1, 0, 1)).toEqual(READ);
  expect(read(0, 0, 0)).toEqual(READ);
  expect(read(2, 0, 3)).toEqual(READ);
  expect(read(2, 3, 0)).toEqual(refused);
  expect(asked).toHaveLength(1);
});

test("a layer without filters is read directly, and filters are applied in their order", async () => {
  const circle = { type: "circle", name: "round" } as const;
  const { read } = filtered([circle, RASTER], () => info(UPPER_LEFT));
  expect(read(3, 7, 7)).toEqual({ kind: "filtered", filter: "round", debug: false });
  expect(await read(3, 4, 3)).toEqual(refused);
  expect(read(3, 3, 4)).toEqual(READ);
});

test("a raster that cannot be loaded is a failure with the filter's name, logged once, and asked for again later", async () => {
  const failure = { kind: "failed", failure: "exception", message: "no such layer", retryAfterMs: undefined } as const;
  let answer: UserAnswer = failure;
  const { read, asked, logged, clock } = filtered([RASTER], () => answer);
  const failed = await read(1, 0, 0);
  expect(failed).toMatchObject({ kind: "failure", failure: { code: "upstream_failed" } });
  expect(JSON.stringify(failed)).toContain("The request filter mask has no raster of EPSG:900913, level 1: ");
  expect(read(1, 0, 1)).toEqual(failed);
  expect([asked.length, logged.length]).toEqual([1, 1]);
  answer = info(UPPER_LEFT);
  clock.ms = 10_000;
  expect(await read(1, 0, 1)).toEqual(READ);
});

test("a renewed raster replaces the old one; one that fails leaves the old one in use", async () => {
  let answer: UserAnswer = info(UPPER_LEFT);
  const { read, masks, layer } = filtered([RASTER], () => answer);
  const renewal = { layer: "a", filter: "mask", gridSet: "EPSG:900913", zoomStart: 0, zoomStop: 9 };
  expect(await read(1, 1, 0)).toEqual(refused);
  answer = { kind: "failed", failure: "timeout", message: "late", retryAfterMs: undefined };
  await masks.renew(layer, renewal);
  expect(read(1, 1, 0)).toEqual(refused);
  answer = info(Uint8Array.of(0, 0b0100_0000));
  await masks.renew(layer, renewal);
  expect(read(1, 1, 0)).toEqual(READ);
  expect(read(1, 0, 1)).toEqual(refused);
});

test("a changed layer loads its rasters again, and a load of before the change is not kept", async () => {
  let begun: ((answer: UserAnswer) => void) | undefined;
  const answers: Promise<UserAnswer>[] = [
    new Promise((resolve) => (begun = resolve)),
    Promise.resolve(info(new Uint8Array(2))),
  ];
  const layer: Layer = { ...layerNamed("a"), requestFilters: [RASTER] };
  const masks = new Masks({
    query: () => answers.shift() ?? Promise.resolve(info(UPPER_LEFT)),
    now: () => 0,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  });
  const [subset] = layer.gridSubsets;
  if (subset === undefined) throw new Error("the layer has no grid set");
  const place = { layer, filter: RASTER, subset, z: 1 };
  const old = masks.get(place);
  masks.clear("a");
  await masks.get(place);
  begun?.(info(UPPER_LEFT));
  await old;
  expect(masks.get(place)).toEqual({ kind: "mask", mask: { width: 2, height: 2, bits: new Uint8Array(2) } });
});

test("a raster with too many pixels is not asked for", async () => {
  const { read, asked } = filtered([{ ...RASTER, zoomStop: 13 }], () => info(new Uint8Array(0)));
  expect(JSON.stringify(await read(13, 0, 0))).toContain("more than 16777216 pixels");
  expect(asked).toHaveLength(0);
});
