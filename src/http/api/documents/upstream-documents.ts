import * as z from "zod";
import { UPSTREAM_STATES } from "../../../render/upstream/upstream-health.ts";
import { moment, momentOrNull, text, whole } from "./fields.ts";

const error = { class: text, message: text };

export const upstream = z.object({
  id: text,
  origin: text.meta({ description: "Scheme, host and port, without credentials; of an archive its file" }),
  layers: z.array(text),
  state: z.enum(UPSTREAM_STATES).meta({ description: "unknown: no request was sent since the start" }),
  since: moment.meta({ description: "The beginning of the state" }),
  lastError: z.object({ at: moment, ...error }).nullable(),
  connections: z.object({
    inUse: whole,
    allowed: whole.meta({ description: "Now: fewer than configured for an upstream that is slow or busy" }),
    configured: whole,
  }),
  waiting: z.object({ users: whole, jobs: whole }),
  latency: z.object({ windowSeconds: whole, requests: whole, p50Ms: whole, p95Ms: whole }).nullable(),
  pausedUntil: momentOrNull.meta({ description: "Jobs stop until then, because the upstream requested a pause" }),
});

export const upstreamProbe = z.object({
  ok: z.boolean(),
  layer: text.meta({ description: "The layer of the requested tile" }),
  ms: whole,
  error: z.object(error).nullable(),
  upstream,
});
