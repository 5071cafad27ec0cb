import {
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import type { ServerEvent } from "../../coordinator/server-event.ts";
import { type TraceContext, traceIdOf } from "../../lib/http/trace-context.ts";
import { ownVersion } from "../../lib/process/version.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { sleep } from "../../lib/time/sleep.ts";
import type { JobView } from "../../plan/job/job-documents.ts";
import type { UserRenders } from "../../render/user-renders.ts";

export type Telemetry = ReturnType<typeof startTelemetry>;

const SEND_MS = 1_000;
const CLOSE_MS = 2_000;

/** Starts reports to an OpenTelemetry collector, configured by the standard variables `OTEL_*`. */
export function startTelemetry(clock: Clock) {
  const named = resourceFromAttributes({ "service.name": "nuthatch", "service.version": ownVersion() });
  const provider = new TracerProvider({
    // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence.
    resource: named.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter(), scheduledDelayMillis: SEND_MS })],
  });
  const tracer = provider.getTracer("nuthatch", ownVersion());
  return {
    /**
     * Wraps renders so that each becomes a span. The span is a part of the user's trace, if any, and contains the span
     * of the upstream's request.
     */
    traced: (renders: UserRenders) => tracedRenders(renders, tracer),
    /** Reports an ended job as a span with the job's duration. */
    jobEvent: (event: ServerEvent) => reportJob(event, tracer),
    close: (): Promise<void> => Promise.race([provider.shutdown(), sleep(clock, CLOSE_MS)]),
  };
}

function tracedRenders(renders: UserRenders, tracer: Tracer): UserRenders {
  return {
    renderForUser: ({ trace: parent, ...order }, missed, client, gone) => {
      const { layer, gridSet, format } = order.tileSet;
      const attributes = {
        "nuthatch.layer": layer,
        "nuthatch.grid_set": gridSet,
        "nuthatch.format": format,
        "nuthatch.tile": `${missed.z}/${missed.x}/${missed.y}`,
      };
      return spanned(tracer, "render", attributes, parent, (own) =>
        renders.renderForUser({ ...order, trace: own }, missed, client, gone),
      );
    },
    queryUpstream: (layer, { trace: parent, ...question }, client, gone) =>
      spanned(tracer, question.kind, { "nuthatch.layer": layer.name }, parent, (own) =>
        renders.queryUpstream(layer, { ...question, trace: own }, client, gone),
      ),
    renderStatus: (layer, metatile) => renders.renderStatus(layer, metatile),
  };
}

/** Runs work that sends requests to an upstream, inside a span. */
async function spanned<T extends { readonly kind: string }>(
  tracer: Tracer,
  name: string,
  attributes: Readonly<Record<string, string>>,
  parent: TraceContext | undefined,
  work: (own: TraceContext) => Promise<T>,
): Promise<T> {
  const context = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, spanContextOf(parent));
  const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, context);
  try {
    const outcome = await work(traceOf(span, parent));
    span.setAttribute("nuthatch.outcome", outcome.kind);
    if (["failed", "refused", "remembered"].includes(outcome.kind)) span.setStatus({ code: SpanStatusCode.ERROR });
    return outcome;
  } finally {
    span.end();
  }
}

const spanContextOf = (parent: TraceContext): SpanContext => ({
  traceId: traceIdOf(parent),
  spanId: parent.traceparent.slice(36, 52),
  traceFlags: Number.parseInt(parent.traceparent.slice(53), 16),
  isRemote: true,
});

/** Returns the trace context of a span, for the processes that continue its trace. */
function traceOf(span: Span, parent: TraceContext | undefined): TraceContext {
  const { traceId, spanId, traceFlags } = span.spanContext();
  const traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
  return parent?.tracestate === undefined ? { traceparent } : { traceparent, tracestate: parent.tracestate };
}

function reportJob(event: ServerEvent, tracer: Tracer): void {
  if (event.kind !== "job") return;
  const { job } = event;
  if (job.endedAt === null) return;
  const span = tracer.startSpan(job.type, {
    startTime: Date.parse(job.startedAt ?? job.createdAt),
    attributes: factsOf(job),
  });
  if (job.outcome !== "done") span.setStatus({ code: SpanStatusCode.ERROR, message: job.reason ?? "" });
  span.end(Date.parse(job.endedAt));
}

const factsOf = ({ id, layer, gridSet, format, tiles, bytes, retries, outcome }: JobView) => ({
  "nuthatch.job": id,
  "nuthatch.layer": layer,
  ...(gridSet === null ? {} : { "nuthatch.grid_set": gridSet }),
  ...(format === null ? {} : { "nuthatch.format": format }),
  "nuthatch.tiles.stored": Number(tiles.stored),
  "nuthatch.tiles.skipped": Number(tiles.skipped),
  "nuthatch.tiles.failed": Number(tiles.failed),
  "nuthatch.bytes": Number(bytes),
  "nuthatch.retries": retries,
  ...(outcome === null ? {} : { "nuthatch.outcome": outcome }),
});
