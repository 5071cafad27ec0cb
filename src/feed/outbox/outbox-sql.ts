import { OUTBOX, OUTBOX_COLUMNS, WRITTEN_COLUMNS } from "./outbox-row.ts";

/** A table whose changes the triggers write into the outbox. */
export interface WatchedTable {
  readonly schema: string;
  readonly table: string;
  /** The column with the geometry. */
  readonly geometry: string;
  /** The EPSG code of a column of PostgreSQL's type `box`. Undefined: the column is a geometry of PostGIS. */
  readonly srid: number | undefined;
}

/** A statement that changes more rows than this writes one row for each part of a grid of 64 x 64 over its changes. */
const MOST_ROWS = 1_000;
const PARTS = 64;

/** Returns a name in quotes. */
export const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Returns the columns `srid`, `minx` … of the changed rows, from a transition table. */
function boxesOf({ geometry, srid }: WatchedTable, rows: string): string {
  const column = identifier(geometry);
  if (srid === undefined)
    return `SELECT ST_SRID(${column}) AS srid, ST_XMin(${column}) AS minx, ST_YMin(${column}) AS miny,
             ST_XMax(${column}) AS maxx, ST_YMax(${column}) AS maxy
      FROM ${rows} WHERE NOT ST_IsEmpty(${column})`;
  // The first point of a box is its upper right corner.
  return `SELECT ${srid} AS srid, (${column}[1])[0] AS minx, (${column}[1])[1] AS miny,
             (${column}[0])[0] AS maxx, (${column}[0])[1] AS maxy
      FROM ${rows} WHERE ${column} IS NOT NULL`;
}

/** The events with rows, and their transition tables. */
const EVENTS = [
  { event: "INSERT", tables: ["new_rows"], referencing: "NEW TABLE AS new_rows" },
  {
    event: "UPDATE",
    tables: ["old_rows", "new_rows"],
    referencing: "OLD TABLE AS old_rows NEW TABLE AS new_rows",
  },
  { event: "DELETE", tables: ["old_rows"], referencing: "OLD TABLE AS old_rows" },
] as const;

/**
 * Returns the SQL that makes the outbox and the triggers of a table. It can be run again, for the same and for other
 * tables. Triggers run once for each statement (transition tables, PostgreSQL 10), so that a bulk load stays cheap.
 */
export function outboxSql(watched: WatchedTable): string {
  const { schema, table } = watched;
  const name = `${identifier(schema)}.${identifier(table)}`;
  const topic = literal(`${schema}.${table}`);
  const functionOf = (event: string): string =>
    `${identifier(schema)}.${identifier(`nuthatch_${event.toLowerCase()}_${table}`)}`;
  const insert = `INSERT INTO ${OUTBOX} (${Object.keys(WRITTEN_COLUMNS).join(", ")})`;
  const triggers = EVENTS.map(
    ({ event, tables, referencing }) => `
CREATE OR REPLACE FUNCTION ${functionOf(event)}() RETURNS trigger LANGUAGE plpgsql AS $nuthatch$
BEGIN
  WITH changed AS (
    ${tables.map((rows) => boxesOf(watched, rows)).join("\n    UNION\n    ")}
  ), whole AS (
    SELECT count(*) AS n, min(minx) AS x, min(miny) AS y,
           greatest(max(maxx) - min(minx), max(maxy) - min(miny)) / ${PARTS} AS part
    FROM changed
  )
  ${insert}
    SELECT ${topic}, srid, min(minx), min(miny), max(maxx), max(maxy)
    FROM changed, whole
    GROUP BY srid,
      CASE WHEN n <= ${MOST_ROWS} OR part = 0 THEN minx ELSE floor(((minx + maxx) / 2 - x) / part) END,
      CASE WHEN n <= ${MOST_ROWS} OR part = 0 THEN miny ELSE floor(((miny + maxy) / 2 - y) / part) END,
      CASE WHEN n <= ${MOST_ROWS} OR part = 0 THEN maxx END,
      CASE WHEN n <= ${MOST_ROWS} OR part = 0 THEN maxy END;
  PERFORM pg_notify(${literal(OUTBOX)}, '');
  RETURN NULL;
END $nuthatch$;
DROP TRIGGER IF EXISTS nuthatch_${event.toLowerCase()} ON ${name};
CREATE TRIGGER nuthatch_${event.toLowerCase()} AFTER ${event} ON ${name}
  REFERENCING ${referencing} FOR EACH STATEMENT EXECUTE FUNCTION ${functionOf(event)}();`,
  );
  return `-- Nuthatch: the changes of ${schema}.${table}. Run it with psql as the owner of the table; it can be run again.
-- The account of \`databases\` needs: GRANT SELECT, DELETE ON ${OUTBOX} TO reader;
-- Accounts that change the table need: GRANT INSERT ON ${OUTBOX} TO editor;
BEGIN;

CREATE TABLE IF NOT EXISTS ${OUTBOX} (
${Object.entries(OUTBOX_COLUMNS)
  .map((column) => `  ${column.join(" ")},`)
  .join("\n")}
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
${triggers.join("\n")}

CREATE OR REPLACE FUNCTION ${functionOf("truncate")}() RETURNS trigger LANGUAGE plpgsql AS $nuthatch$
BEGIN
  INSERT INTO ${OUTBOX} (topic) VALUES (${topic});
  PERFORM pg_notify(${literal(OUTBOX)}, '');
  RETURN NULL;
END $nuthatch$;
DROP TRIGGER IF EXISTS nuthatch_truncate ON ${name};
CREATE TRIGGER nuthatch_truncate AFTER TRUNCATE ON ${name}
  FOR EACH STATEMENT EXECUTE FUNCTION ${functionOf("truncate")}();

COMMIT;
`;
}
