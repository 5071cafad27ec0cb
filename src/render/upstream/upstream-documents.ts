import * as z from "zod";
import { type DocumentOf, moment, momentOrNull, text, whole } from "../../lib/document-fields.ts";

const error = { class: text, message: text };

export const upstream = z.object({
  id: text,
  origin: text.meta({ description: "Scheme, host and port, without credentials; of an archive its file" }),
  layers: z.array(text),
  state: z.enum(["up", "down", "unknown"]).meta({ description: "unknown: no request was sent since the start" }),
  /** For `down`, the time of the first failure. */
  since: moment.meta({ description: "The start of the state" }),
  /** Its message does not contain the address and the credentials of the upstream. */
  lastError: z.object({ at: moment, ...error }).nullable(),
  connections: z.object({
    inUse: whole,
    allowed: whole.meta({ description: "Now: fewer than configured for an upstream that is slow or busy" }),
    configured: whole,
  }),
  waiting: z.object({ users: whole, jobs: whole }),
  /** Of pictures. Null if there was no picture in the window. */
  latency: z.object({ windowSeconds: whole, requests: whole, p50Ms: whole, p95Ms: whole }).nullable(),
  pausedUntil: momentOrNull.meta({ description: "Jobs stop until then, because the upstream requested a pause" }),
});

export type UpstreamView = DocumentOf<typeof upstream>;
/** The part of an upstream's document that follows from its answers. */
export type UpstreamHealthView = Pick<UpstreamView, "state" | "since" | "lastError" | "latency">;

/** The result of a request for one tile, which is not stored, to an upstream. */
export const upstreamProbe = z.object({
  ok: z.boolean(),
  layer: text.meta({ description: "The layer of the requested tile" }),
  ms: whole,
  /** Null if the upstream rendered the tile, or answered that it has no tile. */
  error: z.object(error).nullable(),
  /** The state of the upstream after the answer. */
  upstream,
});
export type UpstreamProbe = DocumentOf<typeof upstreamProbe>;
