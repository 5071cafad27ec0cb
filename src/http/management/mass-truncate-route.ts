import type { Operations } from "../../coordinator/operations.ts";
import { type Refusal, unknownLayer } from "../../lib/refusal.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { JobOptions } from "../../plan/job-options.ts";
import { planExtentTruncate } from "../../plan/plan-job.ts";
import type { MassTruncateRequest } from "../../plan/seed-request.ts";
import type { MassTruncationRequest } from "../../truncation/mass-truncation.ts";
import { refusalText } from "../errors.ts";
import type { Answer } from "../reply.ts";
import type { Exchange, Route } from "../resource.ts";
import { decodeMassTruncate, encodeMassTruncateList } from "./mass-truncate-codec.ts";
import { jobHeaders } from "./seed-route.ts";

/** `/masstruncate[.xml]`, also under `/rest` (`docs/reference/wire-format.md`, Mass truncate). */
export function massTruncateRoute(parts: {
  readonly operations: Operations;
  readonly jobOptions: () => JobOptions;
}): Route {
  return {
    owns: (first) => first === "masstruncate" || first.startsWith("masstruncate."),
    resourceAt: (segments) => {
      const [name, ...more] = segments[0] === "rest" ? segments.slice(1) : segments;
      if (more.length > 0 || (name !== "masstruncate" && name !== "masstruncate.xml")) return undefined;
      return {
        methods: {
          GET: {
            need: "read",
            handle: async ({ origin, target }) => {
              const path = `${target.mount}${target.path}`.replace(/\/$/, "").replace(/\.xml$/, "");
              return { status: 200, type: "application/xml", body: encodeMassTruncateList(`${origin}${path}`) };
            },
          },
          POST: { need: "operate", handle: (exchange) => truncateAnswer(parts, exchange) },
        },
      };
    },
  };
}

/**
 * Decodes the body, or GeoServer's `?requestType=truncateLayer&layer=NAME` if the body is empty. A `layer` in the query
 * without `requestType` truncates nothing.
 */
async function decode(exchange: Exchange): Promise<Result<MassTruncateRequest, Refusal>> {
  const body = await exchange.body();
  if (!body.ok) return body;
  const layer = exchange.query.get("layer");
  if (
    body.value.byteLength === 0 &&
    exchange.query.get("requestType") === "truncateLayer" &&
    layer !== null &&
    layer !== ""
  ) {
    return ok({ type: "truncateLayer", layer });
  }
  return decodeMassTruncate(body.value);
}

async function truncateAnswer(
  { operations, jobOptions }: { readonly operations: Operations; readonly jobOptions: () => JobOptions },
  exchange: Exchange,
): Promise<Answer> {
  const decoded = await decode(exchange);
  if (!decoded.ok) return refusalText(decoded.error);
  const request = decoded.value;
  const layer = exchange.catalogue.layers.get(request.layer);
  if (layer === undefined) {
    return refusalText({
      ...unknownLayer(request.layer),
      details: [`Could not find layer ${request.layer}`],
    });
  }
  const done: Answer = { status: 200, type: "text/plain", body: "" };
  const truncated = async (requested: MassTruncationRequest): Promise<Answer> => {
    const { id } = await operations.truncate(requested, exchange.by);
    return { ...done, headers: { Link: `<${exchange.base}/api/v1/truncations/${id}>; rel="monitor"` } };
  };
  switch (request.type) {
    case "truncateLayer":
    case "truncateOrphans":
      return truncated({ ...request, mode: "hard" });
    case "truncateParameters":
      return truncated({ ...request, mode: "hard", parameters: Object.fromEntries(request.parameters) });
    case "truncateExtent": {
      const planned = planExtentTruncate(request, layer, jobOptions());
      if (!planned.ok) return refusalText(planned.error);
      const submitted = await operations.submit(planned.value, { by: exchange.by });
      if (!submitted.ok) return refusalText(submitted.error);
      return { ...done, headers: jobHeaders(exchange, submitted.value.jobId) };
    }
  }
}
