import { describe, expect, test } from "vitest";
import { builtInGridSet } from "./built-in.ts";
import { createGridSet } from "./create-grid-set.ts";
import { type GridSet, tileExtent, topLeftCorner } from "./grid-set.ts";
import { gridSetOfTileMatrixSet } from "./tile-matrix-set.ts";

type Json = Readonly<Record<string, unknown>>;
interface Plan {
  readonly id: string;
  readonly crs: unknown;
  readonly orderedAxes?: readonly string[];
  readonly point: readonly [number, number];
  readonly scale: number;
  readonly cell: number;
  /** The number of tiles of level 0, across and up. */
  readonly tiles: readonly [number, number];
  readonly levels: number;
  /** The significant digits that the standard prints. */
  readonly digits: number;
}

/**
 * Returns a document like those in annex D of the standard: each level halves the previous resolution, and numbers are
 * rounded.
 */
function annexD({ id, crs, orderedAxes, point, scale, cell, tiles, levels, digits }: Plan): Json {
  const rounded = (n: number): number => Number(n.toPrecision(digits));
  return {
    id,
    title: `${id} of annex D`,
    uri: `http://www.opengis.net/def/tilematrixset/OGC/1.0/${id}`,
    crs,
    ...(orderedAxes === undefined ? {} : { orderedAxes }),
    tileMatrices: Array.from({ length: levels }, (_, z) => ({
      id: String(z),
      scaleDenominator: rounded(scale / 2 ** z),
      cellSize: rounded(cell / 2 ** z),
      cornerOfOrigin: "topLeft",
      pointOfOrigin: point,
      tileWidth: 256,
      tileHeight: 256,
      matrixWidth: tiles[0] * 2 ** z,
      matrixHeight: tiles[1] * 2 ** z,
    })),
  };
}

const EPSG = "http://www.opengis.net/def/crs/EPSG/0/";
const WEB_MERCATOR: Plan = {
  id: "WebMercatorQuad",
  crs: `${EPSG}3857`,
  orderedAxes: ["X", "Y"],
  point: [-20037508.3427892, 20037508.3427892],
  scale: 559082264.028717,
  cell: 156543.033928041,
  tiles: [1, 1],
  levels: 25,
  digits: 15,
};
const CRS84: Plan = {
  id: "WorldCRS84Quad",
  crs: "http://www.opengis.net/def/crs/OGC/1.3/CRS84",
  orderedAxes: ["Lon", "Lat"],
  point: [-180, 90],
  scale: 279541132.014358,
  cell: 0.703125,
  tiles: [2, 1],
  levels: 24,
  digits: 15,
};
const UPS: Plan = {
  id: "UPSArcticWGS84Quad",
  crs: `${EPSG}5041`,
  orderedAxes: ["E", "N"],
  point: [-14440759.350252, 18440759.350252],
  scale: 458726544.4,
  cell: 128443.4324,
  tiles: [1, 1],
  levels: 25,
  digits: 10,
};

function read(document: unknown): GridSet {
  const result = gridSetOfTileMatrixSet(document);
  if (!result.ok) throw new Error(result.error);
  return result.value;
}
const refusal = (document: unknown): string => {
  const result = gridSetOfTileMatrixSet(document);
  return result.ok ? "accepted" : result.error;
};
/** Returns a document, with changes to its levels. */
function changed(plan: Plan, change: (level: Json, z: number) => Json, more: Json = {}): Json {
  const document = annexD(plan);
  const levels: Json[] = Array.isArray(document["tileMatrices"]) ? document["tileMatrices"] : [];
  return { ...document, tileMatrices: levels.map((level, z) => ({ ...level, ...change(level, z) })), ...more };
}

describe("a well-known set of the standard, as a document", () => {
  test.each([WEB_MERCATOR, CRS84, UPS])("$id has the built-in one's levels, names, tiles and places", (plan) => {
    const read84 = read(annexD(plan));
    const builtIn = builtInGridSet(plan.id);
    if (builtIn === undefined) throw new Error(plan.id);
    expect(read84).toMatchObject({ id: plan.id, srs: builtIn.srs, alignTopLeft: true, title: `${plan.id} of annex D` });
    expect(read84.metersPerUnit).toBe(builtIn.metersPerUnit);
    expect(read84.matrices).toHaveLength(plan.levels);
    const point = topLeftCorner(read84, 0);
    expect([point.x, point.y]).toEqual(plan.point);
    for (const [z, matrix] of builtIn.matrices.entries()) {
      const mine = read84.matrices[z];
      expect(mine).toMatchObject({
        name: String(z),
        matrixWidth: matrix.matrixWidth,
        matrixHeight: matrix.matrixHeight,
      });
      expect((mine?.resolution ?? 0) / matrix.resolution).toBeCloseTo(1, 7);
      const last = { x: matrix.matrixWidth - 1, y: 0, z };
      const [a, b] = [tileExtent(read84, last), tileExtent(builtIn, last)];
      // UPS is printed with ten digits: a metre at the far edge.
      expect(Math.abs(a.maxX - b.maxX) + Math.abs(a.minY - b.minY)).toBeLessThan(2);
    }
  });

  test("comes back from its own numbers, as config print writes them", () => {
    for (const plan of [WEB_MERCATOR, CRS84, UPS]) {
      const grid = read(annexD(plan));
      const again = createGridSet({
        ...grid,
        scale: { resolutions: grid.matrices.map((m) => m.resolution) },
        scaleNames: grid.matrices.map((m) => m.name),
      });
      expect(again).toEqual({ ok: true, value: grid });
    }
  });
});

describe("the order of the axes", () => {
  const north: Plan = { ...CRS84, id: "n", crs: `${EPSG}4326`, point: [90, -180] };
  test("is that of orderedAxes, else that of the CRS", () => {
    const { orderedAxes: _, ...unsaid } = north;
    for (const plan of [{ ...north, orderedAxes: ["Lat", "Lon"] }, unsaid]) {
      const grid = read(annexD(plan));
      expect([topLeftCorner(grid, 0), grid.yCoordinateFirst]).toEqual([{ x: -180, y: 90 }, true]);
    }
    const { orderedAxes: __, ...crs84 } = CRS84;
    expect(topLeftCorner(read(annexD(crs84)), 0)).toEqual({ x: -180, y: 90 });
    const metres = { ...WEB_MERCATOR, crs: `${EPSG}3035`, orderedAxes: ["N", "E"], point: [5, 2] as const };
    expect(topLeftCorner(read(annexD(metres)), 3)).toEqual({ x: 2, y: 5 });
  });

  test("with unknown axes is refused", () => {
    expect(refusal(annexD({ ...UPS, orderedAxes: ["i", "j"] }))).toBe(
      'orderedAxes: expected two axes such as ["E", "N"] or ["Lat", "Lon"], got ["i","j"]',
    );
  });
});

test("a CRS may be written in every way that the standard has", () => {
  const codes: [unknown, number | string][] = [
    [`${EPSG}5041`, 5041],
    ["https://www.opengis.net/def/crs/EPSG/9.9.1/5041", 5041],
    ["urn:ogc:def:crs:EPSG::5041", 5041],
    ["EPSG:5041", 5041],
    ["[EPSG:5041]", 5041],
    [{ uri: `${EPSG}5041` }, 5041],
    ["urn:ogc:def:crs:OGC:1.3:CRS84", 4326],
    ["OGC:CRS84", 4326],
    [{ wkt: {} }, "crs: expected the URI of a CRS"],
    ["IAU:30100", 'crs: expected an EPSG code or CRS84, got "IAU:30100"'],
  ];
  for (const [crs, expected] of codes) {
    const result = gridSetOfTileMatrixSet(annexD({ ...UPS, crs }));
    expect(result.ok ? result.value.srs : result.error, JSON.stringify(crs)).toBe(expected);
  }
});

test("tiles may be counted from below, levels may stand in any order, and units may be feet", () => {
  const below = read(changed(UPS, () => ({ cornerOfOrigin: "bottomLeft", pointOfOrigin: [10, 20] })));
  expect(below).toMatchObject({ alignTopLeft: false, extent: { minX: 10, minY: 20 } });
  const document = changed(UPS, ({ scaleDenominator }) => ({ scaleDenominator: Number(scaleDenominator) * 0.3048 }));
  const levels: unknown[] = Array.isArray(document["tileMatrices"]) ? document["tileMatrices"] : [];
  const feet = read({ ...document, tileMatrices: levels.toReversed() });
  expect(feet.metersPerUnit).toBeCloseTo(0.3048, 8);
  expect(feet.matrices[0]?.name).toBe("0");
});

test("levels larger than the mapped area cover the bounding box of the document", () => {
  const cells = [100, 30, 10];
  const level = (cellSize: number, z: number) => ({
    id: `l${z}`,
    cellSize,
    scaleDenominator: cellSize / 0.00028,
    pointOfOrigin: [0, 10_000],
    tileWidth: 10,
    tileHeight: 10,
    matrixWidth: Math.ceil(4_444 / (cellSize * 10)),
    matrixHeight: Math.ceil(9_999 / (cellSize * 10)),
  });
  const document = { id: "a", crs: "EPSG:3035", orderedAxes: ["E", "N"], tileMatrices: cells.map(level) };
  const counts = (grid: GridSet) => grid.matrices.map((m) => [m.matrixWidth, m.matrixHeight]);
  const expected = document.tileMatrices.map((m) => [m.matrixWidth, m.matrixHeight]);
  expect(counts(read(document))).toEqual(expected);
  const boxed = read({ ...document, boundingBox: { lowerLeft: [0, 1], upperRight: [4_444, 10_000] } });
  expect([boxed.extent, counts(boxed)]).toEqual([{ minX: 0, minY: 1, maxX: 4_444, maxY: 10_000 }, expected]);
});

test("what cannot be a grid set is refused with the level and the field", () => {
  const at2 = (change: Json): Json => changed(UPS, (_, z) => (z === 2 ? change : {}));
  const cases: [unknown, string | RegExp][] = [
    [7, "expected a JSON object"],
    [{ id: "a", tileMatrices: [] }, "expected a list tileMatrices"],
    [{ identifier: "a", tileMatrix: [] }, /this is a document of version 1, version 2.0 is read$/],
    [{ ...annexD(UPS), id: 7 }, "the document has no id; set one beside tileMatrixSet"],
    [
      at2({ variableMatrixWidths: [{ coalesce: 2, minTileRow: 0, maxTileRow: 0 }] }),
      'tile matrix "2": variableMatrixWidths: rows of tiles of different widths cannot be a grid set here',
    ],
    [at2({ tileWidth: 512 }), 'tile matrix "2": tileWidth, tileHeight: all levels of a grid set have the same'],
    [at2({ cornerOfOrigin: "bottomLeft" }), 'tile matrix "2": cornerOfOrigin: all levels of a grid set have the same'],
    [at2({ cornerOfOrigin: "centre" }), 'tile matrix "2": cornerOfOrigin: expected topLeft or bottomLeft'],
    [at2({ pointOfOrigin: [0, 0] }), 'tile matrix "2": pointOfOrigin: all levels of a grid set have the same'],
    [at2({ pointOfOrigin: [0] }), 'tile matrix "2": pointOfOrigin: expected two numbers'],
    [at2({ matrixWidth: 5 }), "matrixWidth: the levels do not cover the same extent, as the levels of a grid set must"],
    [at2({ matrixHeight: 0 }), /"2": matrixHeight: expected a whole number from 1/],
    [at2({ cellSize: "1" }), 'tile matrix "2": cellSize: expected a number above 0'],
    [at2({ scaleDenominator: 5 }), /"2": scaleDenominator and cellSize do not have the ratio of the other levels/],
    [at2({ id: "" }), "a tile matrix has no id"],
    [at2({ id: "3" }), /two levels have the same name/],
  ];
  for (const [document, expected] of cases) expect(refusal(document)).toMatch(expected);
  expect(refusal(at2({ variableMatrixWidths: [] }))).toBe("accepted");
});
