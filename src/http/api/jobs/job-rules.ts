import { badField, type Refusal } from "../../../lib/refusal.ts";
import { fieldEntries } from "../../../plan/job/job-fields.ts";
import type { JobRequestDocument } from "./job-document.ts";

/** The fields with which a request makes several jobs, each with the fields of a single job that it replaces. */
const PLURALS = {
  layers: ["layer"],
  gridSets: ["gridSet", "srs"],
  formats: ["format"],
  parameterSets: ["parameters"],
} as const;

type Field = keyof JobRequestDocument;

/** Fields that exclude each other. The message names the field that is not allowed beside the first one. */
const EXCLUSIVE: readonly (readonly [Field, readonly Field[]])[] = [
  ["layers", PLURALS.layers],
  ["gridSets", PLURALS.gridSets],
  ["formats", PLURALS.formats],
  ["parameterSets", PLURALS.parameterSets],
  ["area", ["bounds", "tiles"]],
  ["tiles", ["bounds", "zoomStart", "zoomStop"]],
  ["maxFailures", ["totalFailuresBeforeAborting"]],
];

/** Returns whether a request may make several jobs. */
export const isPlural = (document: object): boolean => Object.keys(PLURALS).some((plural) => plural in document);

/**
 * Returns the first broken rule between the fields of a request. Undefined if all rules hold.
 * @param given the fields as the client sent them, without nulls, for the values in messages
 */
export function brokenRule(
  document: JobRequestDocument,
  given: Readonly<Record<string, unknown>>,
): Refusal | undefined {
  const not = (field: Field, expected: string): Refusal => badField(field, expected, given[field] ?? null);
  for (const [field, others] of EXCLUSIVE) {
    const other = field in given ? others.find((name) => name in given) : undefined;
    if (other !== undefined) return not(other, `nothing beside ${field}`);
  }
  if (!("layer" in given) && !("layers" in given)) return not("layer", "the name of a layer");
  if ("areaCrs" in given && !("area" in given)) return not("areaCrs", "an area beside it");
  if ("boundsCrs" in given && !("bounds" in given) && !("area" in given)) return not("boundsCrs", "bounds beside it");
  const { type = "seed", order, rateLimit, supersede } = document;
  const decoded = new Map(Object.entries(document));
  const [reseedOnly] =
    fieldEntries.find(([name, { group }]) => group === "reseeds" && decoded.get(name) !== undefined) ?? [];
  if (reseedOnly !== undefined && type !== "reseed") {
    const why =
      type === "truncate" ? "a truncate removes stored tiles of any age" : "a seed renders missing and expired tiles";
    return not("type", `reseed beside ${reseedOnly} (${why})`);
  }
  if (order !== undefined && type === "truncate") return not("order", "nothing beside type truncate");
  if (rateLimit !== undefined && type === "truncate")
    return not("rateLimit", "none for a truncate, as it renders nothing");
  if (supersede !== true) return undefined;
  if (type === "seed")
    return not("supersede", "none for a seed: tiles that an older job should render would stay missing");
  // The job may skip tiles of its range, so an older job on the same range may still have work.
  const other = (["area", "tiles"] as const).find((field) => field in given) ?? reseedOnly;
  return other === undefined
    ? undefined
    : not("supersede", `none beside ${other}: tiles that an older job should render may stay missing`);
}
