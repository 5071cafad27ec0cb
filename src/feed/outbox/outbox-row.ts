import type { Extent } from "../../grid/grid-set.ts";
import type { SqlValue } from "../../state/database.ts";

/** The default name of an outbox, and of the channel on which its triggers notify the server. */
export const OUTBOX = "nuthatch_changes";
/** The columns that triggers write. */
export const WRITTEN_COLUMNS = {
  topic: "text NOT NULL",
  srid: "integer",
  minx: "double precision",
  miny: "double precision",
  maxx: "double precision",
  maxy: "double precision",
};
/** The columns that the server reads, in the order of the values of a row, and their types. */
export const OUTBOX_COLUMNS = { id: "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY", ...WRITTEN_COLUMNS };

/** The place of a change. `all`: all data of its topic. `bad`: the box cannot be read, so all data of its topic. */
export type ChangedPlace =
  | { readonly kind: "all" }
  | { readonly kind: "bad" }
  /** `box`: x first, in the CRS with the EPSG code `srid`. */
  | { readonly kind: "box"; readonly box: Extent; readonly srid: number };

/** A row of an outbox. */
export interface OutboxRow {
  readonly id: string;
  readonly topic: string;
  readonly place: ChangedPlace;
}

/** Reads the values of a row. */
export function outboxRow([id, topic, srid, ...corners]: readonly SqlValue[]): OutboxRow {
  return { id: String(id), topic: String(topic), place: placeOf(srid, corners) };
}

function placeOf(srid: SqlValue | undefined, corners: readonly SqlValue[]): ChangedPlace {
  if (corners.every((corner) => corner === null)) return { kind: "all" };
  const numbers = corners.filter((corner) => typeof corner === "number" && Number.isFinite(corner));
  const [minX, minY, maxX, maxY] = numbers.map(Number);
  if (minX === undefined || minY === undefined || maxX === undefined || maxY === undefined) return { kind: "bad" };
  if (typeof srid !== "number" || minX > maxX || minY > maxY) return { kind: "bad" };
  return { kind: "box", box: { minX, minY, maxX, maxY }, srid };
}
