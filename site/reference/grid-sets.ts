import { builtInGridSet, builtInGridSetIds } from "../../src/grid/built-in.ts";
import type { GridSet } from "../../src/grid/grid-set.ts";
import { code, GENERATED, table } from "./markdown.ts";

/** Returns the page of all built-in grid sets with their levels. */
export function gridSetsPage(): string {
  const gridSets = builtInGridSetIds
    .filter((id) => !isLikeAnother(id))
    .map((id) => builtInGridSet(id))
    .filter((one) => one !== undefined);
  const overview = gridSets.map((gridSet) => [
    `[${code(gridSet.id)}](#${anchor(gridSet.id)})${hasTwin(gridSet.id) ? `, ${code(`${gridSet.id}x2`)}` : ""}`,
    `EPSG:${gridSet.srs}`,
    gridSet.title ?? "",
    `${gridSet.matrices.length}`,
    `${gridSet.tileWidth} × ${gridSet.tileHeight}`,
  ]);
  return `# Grid sets

${GENERATED}

These grid sets are built in. [\`gridSets\`](layer-configuration.md) of the configuration defines others, such as those of a national CRS.

A grid set whose name ends in \`x2\` has the same extent in tiles of 512 × 512 pixels. Each level has half the scale denominator and half the resolution of the table. \`UTM02WGS84Quad\` to \`UTM60WGS84Quad\` have the levels of \`UTM01WGS84Quad\` in the CRS of their zones, EPSG:32602 to EPSG:32660.

Scales assume pixels of 0.28 mm, as WMTS does. A resolution is a number of units of the CRS for each pixel.

${table(["Grid set", "CRS", "Title", "Levels", "Tile in pixels"], overview)}

${gridSets.map(section).join("\n\n")}
`;
}

const hasTwin = (id: string): boolean => builtInGridSetIds.includes(`${id}x2`);
/** Whether the page describes the levels of a grid set by the levels of another grid set. */
const isLikeAnother = (id: string): boolean => id.endsWith("x2") || /^UTM(?!01)/.test(id);

/** The anchor of a heading that is an identifier, as GitHub makes it. */
const anchor = (id: string): string => id.toLowerCase().replace(/[^\w-]/g, "");

function section(gridSet: GridSet): string {
  const { minX, minY, maxX, maxY } = gridSet.extent;
  const rows = gridSet.matrices.map((matrix, level) => [
    `${level}`,
    code(matrix.name),
    `1 : ${readable(matrix.scaleDenominator)}`,
    readable(matrix.resolution),
    `${matrix.matrixWidth} × ${matrix.matrixHeight}`,
  ]);
  const corner = gridSet.alignTopLeft ? "top left" : "bottom left";
  const axes = gridSet.yCoordinateFirst ? "y, x" : "x, y";
  return `## ${gridSet.id}

EPSG:${gridSet.srs}. Extent: ${[minX, minY, maxX, maxY].join(", ")} (minx, miny, maxx, maxy). Tiles begin in the ${corner} corner. Axis order of the CRS: ${axes}.

${table(["Level", "Name", "Scale", "Resolution", "Tiles"], rows)}`;
}

/** Nine digits are enough to compare a scale or a resolution with the value of a client. */
const readable = (value: number): string => String(Number(value.toPrecision(9)));
