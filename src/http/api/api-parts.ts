import type { JobOptions } from "../../jobs/job-options.ts";
import type { Operations } from "../../jobs/operations.ts";
import type { Catalogue } from "../../layer/catalogue.ts";
import { jsonText } from "../../lib/json-text.ts";
import { badField, type Refusal, unknownLayer } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import type { Readiness } from "../readiness.ts";
import type { Answer } from "../reply.ts";
import type { Handler, Resource } from "../resource.ts";
import type { JobEvents } from "./job-events.ts";

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
