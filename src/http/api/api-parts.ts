import type { Operations } from "../../coordinator/operations.ts";
import type { Catalogue } from "../../layer/catalogue.ts";
import { jsonText } from "../../lib/json-text.ts";
import { badField, type Refusal, unknownLayer } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import type { JobOptions } from "../../plan/job-options.ts";
import { refusalProblem } from "../errors.ts";
import type { Readiness } from "../readiness.ts";
import type { Answer } from "../reply.ts";
import type { Handler, Resource } from "../resource.ts";
import type { JobEvents } from "./events/job-events.ts";

/** What the resources of `/api/v1` work with. */
export interface ApiParts {
  readonly operations: Operations;
  readonly catalogue: () => Catalogue;
  readonly jobOptions: () => JobOptions;
  readonly events: JobEvents;
  readonly readiness: () => Readiness;
}

export const json = (value: unknown, status = 200): Answer => ({
  status,
  type: "application/json",
  body: jsonText(value),
});

/** A resource that can only be looked at. */
export const reader = (handle: Handler["handle"]): Resource => ({
  problems: true,
  methods: { GET: { need: "read", handle } },
});

/** A resource that does one thing, such as `jobs/ID/cancel`. */
export const doing = (handle: Handler["handle"]): Resource => ({
  problems: true,
  methods: { POST: { need: "operate", handle } },
});

/** What an operator's action answers: the thing as it then is. */
export const viewAnswer = (view: Result<unknown, Refusal>): Answer =>
  view.ok ? json(view.value) : refusalProblem(view.error);

/** `layer` of a query; absent or empty: all. */
export function layerOf(query: URLSearchParams, { layers }: Catalogue): Result<string | undefined, Refusal> {
  const layer = query.get("layer") || undefined;
  return layer === undefined || layers.has(layer) ? ok(layer) : refuse(unknownLayer(layer));
}

/** `limit` of a query: how much a page of its answer may hold. */
export function limitOf(
  query: URLSearchParams,
  { standard, most }: { readonly standard: number; readonly most: number },
): Result<number, Refusal> {
  const text = query.get("limit") || String(standard);
  const isFine = /^\d+$/.test(text) && text.length <= String(most).length && Number(text) >= 1 && Number(text) <= most;
  return isFine ? ok(Number(text)) : refuse(badField("limit", `a whole number from 1 to ${most}`, text));
}

/** A query's choice among words; absent or empty: all. */
export function oneOf<T extends string>(
  query: URLSearchParams,
  name: string,
  words: readonly T[],
): Result<T | undefined, Refusal> {
  const asked = query.get(name) || undefined;
  const word = words.find((known) => known === asked);
  return word === asked ? ok(word) : refuse(badField(name, `one of ${words.join(", ")}`, asked));
}

/** An id in a query, of a job say; `after`, the cursor of a list, is that of the last of the page before. Absent or empty: none. */
export function idOf(query: URLSearchParams, name: string, what: string): Result<number | undefined, Refusal> {
  const id = query.get(name) || undefined;
  if (id === undefined) return ok(undefined);
  return /^\d{1,15}$/.test(id) ? ok(Number(id)) : refuse(badField(name, `the id of a ${what}`, id));
}
