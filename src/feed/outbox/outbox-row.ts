import type { Extent } from "../../grid/grid-set.ts";
import type { SqlValue } from "../../state/database.ts";

/** The columns of an outbox, in the order of the values of a row. */
export const OUTBOX_COLUMNS = ["id", "topic", "srid", "minx", "miny", "maxx", "maxy"] as const;

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
