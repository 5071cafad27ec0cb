import { isDeepStrictEqual } from "node:util";
import { isMap } from "../../lib/is-map.ts";
import { jsonText } from "../../lib/text/json-text.ts";
import { masked } from "../../lib/text/masked.ts";
import type { JobView } from "../../plan/job/job-documents.ts";
import type { MassTruncationView } from "../../truncation/truncation-documents.ts";
import type { Reply } from "../resource.ts";

/** The most characters of a value, and of a whole detail. */
const MOST_VALUE = 80;
export const MOST_DETAIL = 500;

/** Adds a detail for the record of activity to an answer. A refusal stays unchanged: the record has its reason. */
export const withDetail = (reply: Reply, detail: string | undefined): Reply =>
  "ok" in reply || detail === undefined ? reply : { ...reply, detail };

type NamedJob = Pick<JobView, "layer" | "type" | "gridSet" | "format" | "zoomStart" | "zoomStop">;

/** Describes a job by its type, its layer and its range. */
export const jobDetail = ({ layer, type, gridSet, format, zoomStart, zoomStop }: NamedJob): string =>
  [
    `${type} of ${layer}`,
    ...(gridSet === null ? [] : [gridSet]),
    ...(format === null ? [] : [format]),
    `levels ${zoomStart} to ${zoomStop}`,
  ].join(", ");

/** Describes a truncation by its id, its layer and its kind. */
export const truncationDetail = ({
  id,
  layer,
  type,
  mode,
}: Pick<MassTruncationView, "id" | "layer" | "type" | "mode">): string =>
  `truncation ${id} of ${layer}: ${type}, ${mode}`;

/**
 * Describes the differences between two states of an object: each differing field with its old and its new value. Masks
 * secrets.
 * @param path the position of the object in the configuration, as for `masked`
 */
export function differences(before: unknown, after: unknown, path: readonly string[] = []): string {
  const changes = [...changesOf(before, after, path)];
  return changes.length === 0 ? "no change" : changes.join("; ");
}

function* changesOf(before: unknown, after: unknown, path: readonly string[]): Generator<string> {
  if (isDeepStrictEqual(before ?? null, after ?? null)) return;
  if (!isMap(before) || !isMap(after)) {
    yield `${path.join(".") || "value"}: ${shown(before, path)} → ${shown(after, path)}`;
    return;
  }
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
    yield* changesOf(before[key], after[key], [...path, key]);
}

function shown(value: unknown, path: readonly string[]): string {
  if (value === undefined || value === null) return "none";
  const one = masked(value, path);
  const text = typeof one === "string" ? one : jsonText(one);
  return text.length > MOST_VALUE ? `${text.slice(0, MOST_VALUE)}…` : text;
}
