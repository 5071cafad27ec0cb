import { describe, expect, test } from "vitest";
import { builtInGridSet } from "../../grid/built-in.ts";
import type { Extent, GridSet } from "../../grid/grid-set.ts";
import { decodePicture } from "../../image/decode.ts";
import type { Raster } from "../../image/raster.ts";
import { formatOf } from "../../layer/format.ts";
import { describeSource } from "../source.conformance.ts";
import { SourceError } from "../source.ts";
import { createDemoSource } from "./demo-source.ts";
import { legendSize } from "./legend-size.ts";
import { projectionOf, states } from "./maps.ts";
import { stateAttributes } from "./states-table.ts";

function grid(id: string): GridSet {
  const found = builtInGridSet(id);
  if (found === undefined) throw new Error(id);
  return found;
}
const degrees = grid("EPSG:4326");
const mercator = grid("EPSG:900913");
const atlas: GridSet = { ...mercator, id: "EPSG:2163", srs: 2163 };
const png = formatOf("image/png");

async function render(
  dataset: "states" | "world",
  gridSet: GridSet,
  [minX, minY, maxX, maxY]: readonly [number, number, number, number],
  options: { width?: number; height?: number; parameters?: Record<string, string> } = {},
): Promise<Raster> {
  if (png === undefined) throw new Error("no PNG");
  const { width = 256, height = 256, parameters = {} } = options;
  const rendering = await createDemoSource({ type: "demo", dataset, connections: 1 }).render(
    { gridSet, extent: { minX, minY, maxX, maxY }, width, height, format: png, parameters },
    new AbortController().signal,
  );
  if (rendering.kind !== "raster") throw new Error(rendering.kind);
  return rendering.raster;
}

for (const dataset of ["states", "world"] as const)
  describeSource(`demo, ${dataset}`, () => createDemoSource({ type: "demo", dataset, connections: 1 }));

const alphaAt = ({ width, data }: Raster, x: number, y: number): number => data[(y * width + x) * 4 + 3] ?? 0;
const colourAt = ({ width, data }: Raster, x: number, y: number): string =>
  Buffer.from(data.subarray((y * width + x) * 4, (y * width + x) * 4 + 4)).toString("hex");
/** Returns the number of pixels that are not transparent. */
const rendered = ({ data }: Raster): number => data.filter((value, i) => i % 4 === 3 && value > 0).length;

/** The pixel of a place in a picture whose height is `size`. */
function pixelOf(gridSet: GridSet, lon: number, lat: number, extent: Extent, size: number): [number, number] {
  const width = ((extent.maxX - extent.minX) / (extent.maxY - extent.minY)) * size;
  const [x, y] = projectionOf({ gridSet, extent, width, height: size })([lon, lat]) ?? [NaN, NaN];
  return [Math.floor((x * size) / width), Math.floor(y)];
}

describe.each([
  ["EPSG:4326", degrees, [-130, 5, -65, 70]],
  ["EPSG:900913", mercator, [-14_500_000, 1_500_000, -7_000_000, 9_000_000]],
  ["EPSG:2163", atlas, [-3_000_000, -3_000_000, 3_500_000, 3_500_000]],
] as const)("the states in %s", (_, gridSet, box) => {
  const [minX, minY, maxX, maxY] = box;
  const at = (lon: number, lat: number) => pixelOf(gridSet, lon, lat, { minX, minY, maxX, maxY }, 256);

  test("are where they are, and nothing is where they are not", async () => {
    const raster = await render("states", gridSet, box);
    // Denver, Dallas, Fresno; then Hudson Bay, the Gulf of Mexico, the Pacific.
    for (const [lon, lat] of [
      [-104.9, 39.5],
      [-97, 32.5],
      [-119.5, 36.7],
    ] as const)
      expect([lon, alphaAt(raster, ...at(lon, lat))]).toEqual([lon, 255]);
    for (const [lon, lat] of [
      [-85, 58],
      [-90, 26],
      [-128, 36],
    ] as const)
      expect([lon, alphaAt(raster, ...at(lon, lat))]).toEqual([lon, 0]);
  });

  test("each style is another picture, and no style is population", async () => {
    const [none, population, polygon, hatch] = await Promise.all(
      ["", "population", "polygon", "pophatch"].map((STYLES) =>
        render("states", gridSet, box, { parameters: { STYLES } }),
      ),
    );
    expect(none?.data).toEqual(population?.data);
    expect(population?.data).not.toEqual(polygon?.data);
    expect(polygon?.data).not.toEqual(hatch?.data);
    expect(population?.data).not.toEqual(hatch?.data);
  });

  test("a filter leaves out the states that it does not hold for", async () => {
    const few = await render("states", gridSet, box, {
      parameters: { CQL_FILTER: "STATE_NAME = 'Texas' OR PERSONS > 39000000" },
    });
    expect(alphaAt(few, ...at(-97, 32.5))).toBe(255);
    expect(alphaAt(few, ...at(-119.5, 36.7))).toBe(255);
    expect(alphaAt(few, ...at(-104.9, 39.5))).toBe(0);
    expect(rendered(few)).toBeLessThan(rendered(await render("states", gridSet, box)) / 2);
    expect(rendered(await render("states", gridSet, box, { parameters: { CQL_FILTER: "TOTPOP > 10000" } }))).toBe(
      rendered(await render("states", gridSet, box)),
    );
  });
});

test("every state of the atlas has its figures", () => {
  const figures = states().map(({ properties }) => stateAttributes(properties.name));
  expect(figures.filter((attributes) => !(Number(attributes["PERSONS"]) > 0))).toEqual([]);
  expect(figures.length).toBe(56);
  expect(figures.every((attributes) => attributes["TOTPOP"] === attributes["PERSONS"])).toBe(true);
});

describe.each([
  ["EPSG:4326", degrees, [-180, -90, 180, 90], 512],
  ["EPSG:900913", mercator, [-20037508.34, -20037508.34, 20037508.34, 20037508.34], 256],
] as const)("the world in %s", (_, gridSet, box, width) => {
  test("is opaque, with land and sea in their places", async () => {
    const raster = await render("world", gridSet, box, { width });
    expect(raster.data.every((value, i) => i % 4 !== 3 || value === 255)).toBe(true);
    const [minX, minY, maxX, maxY] = box;
    const colour = (lon: number, lat: number): string => {
      const [x, y] = pixelOf(gridSet, lon, lat, { minX, minY, maxX, maxY }, 256);
      return colourAt(raster, Math.floor((x * width) / 256), y);
    };
    // Away from the lines of the graticule.
    const sea = colour(-147, -3);
    for (const [lon, lat] of [
      [-27, -4],
      [80, -33],
      [-40, 43],
      [175, 23],
    ] as const)
      expect([lon, colour(lon, lat)]).toEqual([lon, sea]);
    // Brazil, Australia, Siberia, the part of Siberia beyond the antimeridian, Antarctica.
    for (const [lon, lat] of [
      [-52, -10],
      [134, -25],
      [100, 62],
      [-175, 67.3],
      [60, -80],
    ] as const)
      expect([lon, colour(lon, lat)]).not.toEqual([lon, sea]);
  });

  test("no streaks run along the antimeridian's parallels", async () => {
    const [minX, minY, maxX, maxY] = box;
    const raster = await render("world", gridSet, box, { width });
    const sea = colourAt(raster, 40 * (width / 256), 120);
    // The Pacific and the Atlantic south of the Aleutians, at Fiji's and Wrangel's latitudes.
    for (const lat of [-16.8, -17.5]) {
      const [, y] = pixelOf(gridSet, 0, lat, { minX, minY, maxX, maxY }, 256);
      const atSea = [-170, -124, -100, -27, -20, -4, 70, 100].map((lon) =>
        colourAt(raster, Math.floor(((lon + 180) / 360) * width), y),
      );
      expect(new Set(atSea)).toEqual(new Set([sea]));
    }
  });
});

test("the world is filled beyond the antimeridian in an azimuthal CRS too", async () => {
  const extent = { minX: -6_500_000, minY: -6_500_000, maxX: 6_500_000, maxY: 6_500_000 };
  const raster = await render("world", atlas, [extent.minX, extent.minY, extent.maxX, extent.maxY]);
  const at = (lon: number, lat: number): string => colourAt(raster, ...pixelOf(atlas, lon, lat, extent, 256));
  expect(at(-178, 67.3)).toBe(at(175, 67));
  expect(at(175, 67)).not.toBe(at(-150, 35));
});

test.each(["population", "polygon", "pophatch"])(
  "pictures side by side join to the one of both: %s",
  async (STYLES) => {
    // 8,000 m per pixel. Widths of 253 and 259 pixels, so that no pattern begins at the border by chance.
    const at = (from: number, width: number) =>
      render("states", mercator, [from, 3_000_000, from + width * 8000, 5_048_000], {
        width,
        height: 256,
        parameters: { STYLES },
      });
    const [left, right, both] = await Promise.all([
      at(-12_288_000, 253),
      at(-12_288_000 + 253 * 8000, 259),
      at(-12_288_000, 512),
    ]);
    let different = 0;
    for (let y = 0; y < 256; y++) {
      for (let x = 0; x < 512; x++) {
        const joined = x < 253 ? colourAt(left, x, y) : colourAt(right, x - 253, y);
        const [a, b] = [Buffer.from(joined, "hex"), Buffer.from(colourAt(both, x, y), "hex")];
        if (a.some((value, i) => Math.abs(value - (b[i] ?? 0)) > 24)) different++;
      }
    }
    expect(different / (512 * 256)).toBeLessThan(0.002);
  },
);

test.each([
  ["world", {}],
  ["states", { STYLES: "population" }],
  ["states", { STYLES: "pophatch" }],
  ["states", { STYLES: "polygon", CQL_FILTER: "PERSONS > 3000000" }],
] as const)(
  "metatiles that touch are one picture but for the last bit of soft edges: %s %o",
  async (dataset, parameters) => {
    // Over the Great Lakes: level 5 of web mercator, with the borders of its tiles.
    const tile = mercator.extent.maxX / 16;
    const at = (column: number, tiles: number) =>
      render(dataset, mercator, [(column - 16) * tile, 3 * tile, (column - 16 + tiles) * tile, 5 * tile], {
        width: tiles * 256,
        height: 512,
        parameters: { ...parameters },
      });
    const both = await at(7, 4);
    const halves = [await at(7, 2), await at(9, 2)];
    // The visible colour. The colour of a transparent pixel does not matter.
    const seen = (data: Uint8Array, pixel: number, channel: number): number => {
      const alpha = data[pixel * 4 + 3] ?? 0;
      return channel === 3 ? alpha : ((data[pixel * 4 + channel] ?? 0) * alpha) / 255;
    };
    const differences = { beyondOne: 0, worst: 0 };
    for (let i = 0; i < both.data.length; i++) {
      const [x, y] = [(i >> 2) % 1024, Math.floor(i / 4096)];
      const half = halves[x >> 9];
      if (half === undefined) throw new Error("no half");
      const difference = Math.abs(seen(both.data, i >> 2, i & 3) - seen(half.data, y * 512 + (x & 511), i & 3));
      if (difference > 1.5) differences.beyondOne++;
      differences.worst = Math.max(differences.worst, difference);
    }
    // cairo softens the edges of areas slightly differently if other corners lie in the same row of pixels.
    expect(differences.worst).toBeLessThan(16);
    expect(differences.beyondOne / both.data.length).toBeLessThan(0.0005);
  },
);

test("a CRS that the demo does not know, and a filter it cannot read, are exceptions in words", async () => {
  const other = { ...mercator, id: "EPSG:32633", srs: 32633 };
  await expect(render("world", other, [0, 0, 1, 1])).rejects.toThrow(
    "the demo layers cannot be rendered in EPSG:32633",
  );
  const unread = render("states", degrees, [-130, 20, -60, 60], { parameters: { CQL_FILTER: "PERSONS ~ 3" } });
  await expect(unread).rejects.toBeInstanceOf(SourceError);
  await expect(unread).rejects.toMatchObject({ failure: "exception" });
});

test("what lies far away, and the smallest area, are rendered without a hitch", async () => {
  expect(rendered(await render("states", degrees, [10, 10, 20, 20]))).toBe(0);
  expect(rendered(await render("states", degrees, [-104.9, 39.5, -104.8999, 39.5001]))).toBe(256 * 256);
});

test.each(["", "population", "polygon", "pophatch"])(
  "the style %j has a legend of the announced size",
  async (style) => {
    const source = createDemoSource({ type: "demo", dataset: "states", connections: 1 });
    const question = { kind: "legend", style, format: "image/png", options: {} } as const;
    const answer = await source.query?.(question, new AbortController().signal);
    expect(answer?.contentType).toBe("image/png");
    const { data } = await decodePicture(answer?.bytes ?? new Uint8Array(), legendSize(style));
    expect(new Set(data).size).toBeGreaterThan(8);
  },
);

test("the world has no legend, and other formats than PNG are refused in words", async () => {
  const of = (dataset: "world" | "states") => createDemoSource({ type: "demo", dataset, connections: 1 });
  const { signal } = new AbortController();
  const question = { kind: "legend", style: "", format: "image/gif", options: {} } as const;
  await expect(of("world").query?.({ ...question, format: "image/png" }, signal)).rejects.toThrow(
    "only have legends of the states",
  );
  await expect(of("states").query?.(question, signal)).rejects.toThrow("FORMAT: expected image/png, got image/gif");
});

test("a cancelled render is a SourceError", async () => {
  if (png === undefined) throw new Error("no PNG");
  const source = createDemoSource({ type: "demo", dataset: "world", connections: 1 });
  const request = { gridSet: degrees, width: 16, height: 16, format: png, parameters: {} };
  const picture = source.render({ ...request, extent: degrees.extent }, AbortSignal.abort());
  await expect(picture).rejects.toMatchObject({ failure: "cancelled" });
});
