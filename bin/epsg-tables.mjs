// Prints src/grid/crs/epsg-tables.ts: the axis orders and units of the EPSG dataset, from the database of PROJ.
//   node bin/epsg-tables.mjs [/usr/share/proj/proj.db] > src/grid/crs/epsg-tables.ts
import Sqlite from "libsql";

/** Ranges do not span more codes than this that EPSG has not assigned: later versions of EPSG may assign them. */
const WIDEST_GAP = 500;
const LINE = 120;

/**
 * The horizontal CRSs, including CRSs with heights, each with its first two axes. Units of degrees have no factor here.
 */
const QUERY = `
  WITH flat(code, cs) AS (
    SELECT code, coordinate_system_code FROM projected_crs WHERE auth_name = 'EPSG'
    UNION ALL
    SELECT code, coordinate_system_code FROM geodetic_crs WHERE auth_name = 'EPSG' AND type LIKE 'geographic%'
  ), horizontal(code, cs) AS (
    SELECT code, cs FROM flat
    UNION ALL
    SELECT compound_crs.code, flat.cs FROM compound_crs
    JOIN flat ON auth_name = 'EPSG' AND horiz_crs_auth_name = 'EPSG' AND flat.code = horiz_crs_code
  )
  SELECT CAST(horizontal.code AS INTEGER) AS code, axis.name AS axis, unit.name AS unit, unit.type, unit.conv_factor AS factor
  FROM horizontal
  JOIN axis ON coordinate_system_auth_name = 'EPSG' AND coordinate_system_code = horizontal.cs
    AND coordinate_system_order = 1
  JOIN unit_of_measure AS unit ON unit.auth_name = axis.uom_auth_name AND unit.code = axis.uom_code
  ORDER BY 1`;

const database = new Sqlite(process.argv[2] ?? "/usr/share/proj/proj.db", { readonly: true });
const rows = database.prepare(QUERY).all();
const { value: version } = database.prepare("SELECT value FROM metadata WHERE key = 'EPSG.VERSION'").get();
database.close();

/** Returns the ranges of the codes with a property. A range may include numbers that are not codes. */
function rangesOf(has) {
  const ranges = [];
  let before;
  for (const row of rows) {
    const last = ranges.at(-1);
    if (!has(row)) {
      before = undefined;
      continue;
    }
    if (last !== undefined && before !== undefined && row.code - before <= WIDEST_GAP) last[1] = row.code;
    else ranges.push([row.code, row.code]);
    before = row.code;
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`));
}

/** Returns ranges as the content of a template literal. */
function lines(ranges, indent) {
  const written = [];
  for (const range of ranges) {
    const line = written.at(-1);
    if (line !== undefined && `${line} ${range}`.length <= LINE) written[written.length - 1] += ` ${range}`;
    else written.push(`${indent}${range}`);
  }
  return written.join("\n");
}

const isDegree = ({ unit }) => unit.startsWith("degree");
const units = [...new Set(rows.filter((row) => !isDegree(row) && row.factor !== 1).map(({ unit }) => unit))].sort();
/** The metre by definition of the units that are no decimal number of metres, and of angles. */
const EXACT = new Map([
  ["US survey foot", "1200 / 3937"],
  ["grad", "METERS_PER_DEGREE * 0.9"],
]);
const entries = [
  ["degree", "METERS_PER_DEGREE", rangesOf(isDegree)],
  ...units.map((name) => [
    name,
    EXACT.get(name) ?? `${rows.find(({ unit }) => unit === name).factor}`,
    rangesOf(({ unit }) => unit === name),
  ]),
];

process.stdout.write(`/*
 * Written by bin/epsg-tables.mjs from the EPSG dataset ${version} in PROJ. A range may include numbers that are not codes.
 */

/** The metres of a degree in scale denominators (OGC 07-057r7, 6.1): a degree on the equator of WGS 84. */
export const METERS_PER_DEGREE = (6378137 * 2 * Math.PI) / 360;

/** The codes of the CRSs whose first axis points north (for geographic CRSs: latitude). */
export const NORTH_FIRST = \`
${lines(
  rangesOf(({ axis }) => axis === "Northing" || axis === "Geodetic latitude"),
  "  ",
)}
\`;

/** The units other than the metre: the metres per unit, and the codes of the CRSs with this unit. */
export const UNITS: readonly (readonly [metersPerUnit: number, codes: string])[] = [
${entries.map(([name, factor, ranges]) => `  // ${name}\n  [\n    ${factor},\n    \`\n${lines(ranges, "      ")}\n    \`,\n  ],`).join("\n")}
];
`);
