import { layerNames } from "../../layer/catalogue.ts";
import { cutName, unknownLayer } from "../../lib/refusal.ts";
import { ok, refuse } from "../../lib/result.ts";
import { planExtentTruncate } from "../../plan/plan-job.ts";
import type { MassTruncationRequest } from "../../truncation/mass-truncation.ts";
import { jobDetail, truncationDetail } from "../activity/activity-detail.ts";
import { forbiddenTo } from "../auth/rights.ts";
import { formOfResource } from "../configuration/document-form.ts";
import { type Answer, POLICY_HEADER, pageAnswer } from "../reply.ts";
import { type Exchange, operating, type Reply, type Route, type RouteOptions, reading } from "../resource.ts";
import { truncatedPage } from "./killed-page.ts";
import { decodeMassTruncate, encodeMassTruncateList } from "./mass-truncate-codec.ts";
import { madeJob } from "./seed-route.ts";

type TruncateParts = Pick<RouteOptions, "operations" | "configured">;

/** `/masstruncate[.xml|.json]`, also under `/rest` (`docs/reference/wire-format.md`, Mass truncate). */
export function massTruncateRoute(parts: TruncateParts): Route {
  return {
    owns: (first) => first === "masstruncate" || first.startsWith("masstruncate."),
    resourceAt: (segments) => {
      const found = formOfResource("masstruncate", segments);
      if (found === undefined) return undefined;
      return {
        methods: {
          GET: reading(async ({ origin, target }) => {
            const path = `${target.mount}${target.path}`.replace(/\/$/, "").replace(/\.(?:xml|json)$/, "");
            const { form: format = "xml" } = found;
            const body = encodeMassTruncateList(`${origin}${path}`, format);
            return { status: 200, type: `application/${format}`, body };
          }),
          POST: operating((exchange) => truncateAnswer(parts, exchange)),
        },
      };
    },
  };
}

/**
 * Truncates as the body requests. With an empty body, truncates as GeoServer's `?requestType=truncateLayer&layer=NAME`
 * requests. A `layer` in the query without `requestType` truncates nothing.
 */
async function truncateAnswer({ operations, configured }: TruncateParts, exchange: Exchange): Promise<Reply> {
  const { query, base, by } = exchange;
  const queried = query.get("requestType") === "truncateLayer" ? query.get("layer") || undefined : undefined;
  const decoded = await exchange.body((bytes) =>
    bytes.byteLength === 0 && queried !== undefined
      ? ok({ type: "truncateLayer" as const, layer: queried })
      : decodeMassTruncate(bytes),
  );
  if (!decoded.ok) return decoded;
  const request = decoded.value;
  if (request.type === "truncateAll") return truncateAllAnswer(operations, exchange, request.isForm);
  const layer = exchange.catalogue.layers.get(request.layer);
  if (layer === undefined)
    return refuse({ ...unknownLayer(request.layer), details: [`Could not find layer ${cutName(request.layer)}`] });
  const done: Answer = { status: 200, type: "text/plain", body: "" };
  const truncated = async (requested: MassTruncationRequest): Promise<Answer> => {
    const made = await operations.truncate(requested, by);
    const headers = { Link: `<${base}/api/v1/truncations/${made.id}>; rel="monitor"` };
    return { ...done, headers, detail: truncationDetail(made) };
  };
  switch (request.type) {
    case "truncateLayer":
    case "truncateOrphans":
      return truncated({ type: request.type, layer: layer.name, mode: "hard" });
    case "truncateParameters":
      return truncated({
        type: request.type,
        layer: layer.name,
        mode: "hard",
        parameters: Object.fromEntries(request.parameters),
      });
    case "truncateExtent": {
      const planned = planExtentTruncate(request, layer, configured().jobs);
      if (!planned.ok) return planned;
      const submitted = await operations.submit(planned.value, { by });
      if (!submitted.ok) return submitted;
      return { ...done, ...madeJob(exchange, submitted.value.jobId), detail: jobDetail(planned.value) };
    }
  }
}

/**
 * Truncates every layer by a separate truncation, which is listed and undone separately. A layer that cannot be
 * truncated because its store is unavailable does not prevent the other truncations.
 */
async function truncateAllAnswer(
  operations: TruncateParts["operations"],
  { base, by, caller, catalogue, target }: Exchange,
  isForm: boolean,
): Promise<Reply> {
  const forbidden = forbiddenTo(caller, "administer");
  if (forbidden !== undefined) return refuse(forbidden);
  const faults: unknown[] = [];
  const truncated: string[] = [];
  for (const layer of layerNames(catalogue)) {
    try {
      await operations.truncate({ type: "truncateLayer", mode: "hard", layer }, by);
      truncated.push(layer);
    } catch (error) {
      faults.push(error);
    }
  }
  const [fault] = faults;
  if (fault !== undefined) throw fault;
  const monitor = { Link: `<${base}/api/v1/truncations>; rel="monitor"` };
  const detail = `${truncated.length} layers: ${truncated.join(", ")}`;
  if (!isForm) return { status: 200, type: "text/plain", body: "", headers: monitor, detail };
  const page = pageAnswer(200, truncatedPage(truncated, `${target.mount}/`));
  return { ...page, headers: { ...monitor, ...POLICY_HEADER }, detail };
}
