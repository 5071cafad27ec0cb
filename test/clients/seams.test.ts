import { existsSync } from "node:fs";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtInGridSet } from "../../src/grid/built-in.ts";
import { rectExtent } from "../../src/grid/grid-set.ts";
import { startServer, type TestServer } from "../support/server/server.ts";
import { hasMapServer, type MapServer, startMapServer } from "./mapserver.ts";
import { colours, difference, pixels, rendered } from "./pixels.ts";

const FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";
const missing = [
  ...(hasMapServer ? [] : ["cgi-mapserver"]),
  ...(existsSync(FONT) ? [] : ["fonts-dejavu-core, for labels"]),
];
if (missing.length > 0) console.warn(`SKIPPED: the seam test needs Debian's ${missing.join(" and ")}`);

const GRID = "EPSG:900913";
const ZOOM = 5;
/** Tiles from the left and from the bottom around the corner (16, 16) in which four metatiles meet. */
const BLOCK = { z: ZOOM, minX: 14, minY: 14, maxX: 17, maxY: 17 };
const SIDE = 4 * 256;
/** Half of the widest label, and more. */
const GUTTER = 64;
const LABEL = "Quermania";

/**
 * A point each half degree: MapServer cuts a line at the border of its picture to fractions of a pixel, and the cut
 * must lie in the gutter.
 */
const line = (from: readonly [number, number], to: readonly [number, number]): string =>
  Array.from({ length: 101 }, (_, i) =>
    [0, 1].map((axis) => (((from[axis] ?? 0) * (100 - i) + (to[axis] ?? 0) * i) / 100).toFixed(6)).join(" "),
  ).join(" ");

/** Lines in all directions, that cross every border, and names that lie on it: a tile has 11 degrees. */
function cartography(): string {
  const steps = Array.from({ length: 15 }, (_, i) => -21 + 3 * i);
  const lines = steps.flatMap((at, i) => [
    line([-25, at], [25, at + 4 - i]),
    line([at, -25], [at + 5 - i, 25]),
    line([-25, at * 2], [25, -at]),
  ]);
  const names = steps.flatMap((x, i) => (i % 2 === 0 ? steps.map((y) => [x + y / 7, y * 0.97] as const) : []));
  const projection = `PROJECTION "init=epsg:4326" END METADATA "ows_title" "x" "ows_srs" "EPSG:900913" END`;
  return `
  LAYER
    NAME "lines" TYPE LINE STATUS ON ${projection}
    ${lines.map((points) => `FEATURE POINTS ${points} END END`).join("\n")}
    CLASS STYLE COLOR 40 40 60 WIDTH 5 END STYLE COLOR 250 200 60 WIDTH 3 END END
  END
  LAYER
    NAME "names" TYPE POINT STATUS ON ${projection}
    ${names.map((point) => `FEATURE POINTS ${point.join(" ")} END TEXT "${LABEL}" END`).join("\n")}
    CLASS
      STYLE COLOR 200 20 20 SIZE 6 END
      LABEL TYPE TRUETYPE FONT "sans" SIZE 12 COLOR 20 20 20 OUTLINECOLOR 255 255 255 OUTLINEWIDTH 2 POSITION CC FORCE TRUE PARTIALS TRUE END
    END
  END
`;
}

describe.skipIf(missing.length > 0)("lines and labels through MapServer, metatiles of 4 x 4 with a gutter", () => {
  let upstream: MapServer;
  let server: TestServer;
  beforeAll(async () => {
    upstream = await startMapServer(cartography(), `sans ${FONT}`);
    const source = `{ type: wms, url: "${upstream.url}", layers: [roads, lines, names], transparent: false, connections: 2 }`;
    const layer = `source: ${source}, gridSubsets: [{ gridSet: ${GRID} }], formats: [image/png], metatile: [4, 4]`;
    server = await startServer({
      configuration: `
layers:
  - { name: seamless, gutter: ${GUTTER}, ${layer} }
  - { name: seams, gutter: 0, ${layer} }
`,
    });
  });
  afterAll(async () => {
    await server.close();
    await upstream.close();
  });

  /** The tiles of the block as one picture. */
  async function joined(layer: string): Promise<Buffer> {
    const whole = Buffer.alloc(SIDE * SIDE * 3);
    const last = 2 ** ZOOM - 1;
    for (let y = BLOCK.minY; y <= BLOCK.maxY; y++) {
      for (let x = BLOCK.minX; x <= BLOCK.maxX; x++) {
        const answer = await fetch(`${server.url}/xyz/${layer}/${ZOOM}/${x}/${last - y}.png`);
        expect(answer.status).toBe(200);
        const tile = await pixels(new Uint8Array(await answer.arrayBuffer()));
        const left = (x - BLOCK.minX) * 256;
        const top = (BLOCK.maxY - y) * 256;
        for (let row = 0; row < 256; row++)
          tile.copy(whole, ((top + row) * SIDE + left) * 3, row * 256 * 3, (row + 1) * 256 * 3);
      }
    }
    return whole;
  }

  /**
   * Returns the same area from one GetMap. The request has a margin, which is cut away, so that symbols outside the
   * area show.
   */
  async function direct(): Promise<Buffer> {
    const grid = builtInGridSet(GRID);
    if (grid === undefined) throw new Error(GRID);
    const { minX, minY, maxX, maxY } = rectExtent(grid, BLOCK);
    const margin = GUTTER * (grid.matrices[ZOOM]?.resolution ?? 0);
    const side = SIDE + 2 * GUTTER;
    const rgb = await rendered(upstream.url, {
      srs: GRID,
      box: [minX - margin, minY - margin, maxX + margin, maxY + margin],
      width: side,
      height: side,
      layers: "roads,lines,names",
    });
    return sharp(rgb, { raw: { width: side, height: side, channels: 3 } })
      .extract({ left: GUTTER, top: GUTTER, width: SIDE, height: SIDE })
      .raw()
      .toBuffer();
  }

  test("neighbouring tiles are one big GetMap, within one grey level", async () => {
    const [tiles, map] = await Promise.all([joined("seamless"), direct()]);
    expect(colours(map)).toBeGreaterThan(100);
    // MapServer computes another origin for each picture, so a point may be rounded to another 256th of a pixel. One
    // pixel of a million differed by more than one grey level; a seam makes hundreds.
    expect(difference(tiles, map)).toBeLessThan(1e-5);
    expect(difference(tiles, map, 16)).toBe(0);
  });

  test("which they are not without the gutter: the map can tell", async () => {
    const [tiles, map] = await Promise.all([joined("seams"), direct()]);
    expect(difference(tiles, map)).toBeGreaterThan(1e-3);
  });
});
