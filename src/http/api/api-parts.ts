import type { Operations } from "../../coordinator/operations.ts";
import type { Catalogue } from "../../layer/catalogue.ts";
import { defined } from "../../lib/defined.ts";
import { jsonText } from "../../lib/json-text.ts";
import { badField, type Refusal, unknownLayer } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import type { JobOptions } from "../../plan/job-options.ts";
import { refusalProblem } from "../errors.ts";
import type { Readiness } from "../readiness.ts";
import type { Answer } from "../reply.ts";
import type { Handler, Resource } from "../resource.ts";
import type { Documents } from "./documents/documents.ts";
import type { JobEvents } from "./events/job-events.ts";
import { parseId } from "./id.ts";

/** The parts of the server that the resources of `/api/v1` use. */
export interface ApiParts {
  readonly operations: Operations;
  readonly catalogue: () => Catalogue;
  readonly jobOptions: () => JobOptions;
  readonly events: JobEvents;
  readonly readiness: () => Readiness;
}

/** Returns a document as the answer. `name` is its name in the OpenAPI document; a lacking field does not compile. */
export const documentAnswer = <N extends keyof Documents>(_name: N, value: Documents[N], status = 200): Answer =>
  json(value, status);

export const json = (value: unknown, status = 200): Answer => ({
  status,
  type: "application/json",
  body: jsonText(value),
});

/** Returns a resource that supports only GET. */
export const reader = (handle: Handler["handle"]): Resource => ({
  methods: { GET: { need: "read", handle } },
});

/** Returns a resource that supports only POST and performs one action, such as `jobs/ID/cancel`. */
export const doing = (handle: Handler["handle"]): Resource => ({
  methods: { POST: { need: "operate", handle } },
});

/** Returns the answer to an action: the job, schedule or truncation in its state after the action, or the refusal. */
export const viewAnswer = <N extends keyof Documents>(name: N, view: Result<Documents[N], Refusal>): Answer =>
  view.ok ? documentAnswer(name, view.value) : refusalProblem(view.error);

/** Reads `layer` of a query. Absent or empty: undefined, which means all layers. */
export function layerOf(query: URLSearchParams, { layers }: Catalogue): Result<string | undefined, Refusal> {
  const layer = query.get("layer") || undefined;
  return layer === undefined || layers.has(layer) ? ok(layer) : refuse(unknownLayer(layer));
}

/** The part of a list that a request asks for: `limit` entries after the last one of the previous page. */
interface Page {
  readonly limit: number;
  readonly after?: number;
}

interface Limits {
  readonly standard: number;
  readonly most: number;
}

/**
 * Reads `limit` and the cursor `after` of a query.
 * @param cursor the words of a refusal for what `after` accepts
 */
export function pageOf(query: URLSearchParams, limits: Limits, cursor: string): Result<Page, Refusal> {
  const limit = limitOf(query, limits);
  if (!limit.ok) return limit;
  const after = idOf(query, "after", cursor);
  if (!after.ok) return after;
  return ok({ limit: limit.value, ...defined({ after: after.value }) });
}

/** Reads `limit` of a query: the number of entries that one page of the answer may hold. */
function limitOf(query: URLSearchParams, { standard, most }: Limits): Result<number, Refusal> {
  const text = query.get("limit") || String(standard);
  const isFine = /^\d+$/.test(text) && text.length <= String(most).length && Number(text) >= 1 && Number(text) <= most;
  return isFine ? ok(Number(text)) : refuse(badField("limit", `a whole number from 1 to ${most}`, text));
}

/** Reads a field of a query that allows only certain words. Absent or empty: undefined, which means all. */
export function oneOf<T extends string>(
  query: URLSearchParams,
  name: string,
  words: readonly T[],
): Result<T | undefined, Refusal> {
  const requested = query.get(name) || undefined;
  const word = words.find((known) => known === requested);
  return word === requested ? ok(word) : refuse(badField(name, `one of ${words.join(", ")}`, requested));
}

/** Reads an id in a query, for example of a job. Absent or empty: undefined. */
export function idOf(query: URLSearchParams, name: string, expected: string): Result<number | undefined, Refusal> {
  const text = query.get(name) || undefined;
  if (text === undefined) return ok(undefined);
  const id = parseId(text);
  return id === undefined ? refuse(badField(name, expected, text)) : ok(id);
}
