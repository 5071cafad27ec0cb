import { sniffFormat } from "../../body/document.ts";
import type { Layer } from "../../layer/layer.ts";
import { asLayerName, type LayerName } from "../../layer/tile-set.ts";
import { type Refusal, unknownLayer } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import type { KillScope, TaskRow } from "../../plan/job/job-request.ts";
import { coverageText, planSeed } from "../../plan/plan-job.ts";
import type { SeedRequest } from "../../plan/seed-request.ts";
import { jobDetail } from "../activity/activity-detail.ts";
import { type Answer, pageAnswer } from "../reply.ts";
import { parseForm } from "../request/query.ts";
import { prefersXml } from "../request/request.ts";
import {
  type Exchange,
  type Handler,
  operating,
  type Reply,
  type Resource,
  type Route,
  type RouteOptions,
  reading,
} from "../resource.ts";
import { decodeKill, neitherSeedNorKill, nothingToKill } from "./kill-codec.ts";
import { killedPage, seedSubmittedPage } from "./killed-page.ts";
import { decodeSeedForm, decodeSeedRequest, isSeedForm, looksLikeSeedRequest } from "./seed-request-codec.ts";
import { encodeTaskListJson, encodeTaskListXml } from "./task-list-codec.ts";

type SeedParts = Pick<RouteOptions, "operations" | "configured">;

/**
 * Returns the route of `/rest/seed`, `/rest/seed.<format>` and `/rest/seed/<layer>[.<format>]`
 * (`docs/reference/wire-format.md`, Seed request and Kill).
 */
export function seedRoute(parts: SeedParts): Route {
  return {
    owns: (first) => first === "rest",
    resourceAt: ([rest, seed = "", layerPart, ...more], { path }) => {
      if (rest !== "rest" || more.length > 0) return undefined;
      const [, name = "", format] = /^(.*?)(?:\.(json|xml))?$/su.exec(layerPart ?? seed) ?? [];
      if (layerPart !== undefined)
        return seed === "seed" && name !== "" ? resourceOf(parts, asLayerName(name), format) : undefined;
      // `/seed/` is sent by a script whose layer variable was empty. It must not mean all layers.
      return name === "seed" && !/\/seed\/\/?$/.test(path) ? resourceOf(parts, undefined, format) : undefined;
    },
  };
}

/**
 * Returns the resource of a layer, or of all layers. Without an extension it accepts a kill, GWC's form, and a seed
 * request whose Content-Type is XML or JSON. With an extension it has the task list, and a layer accepts
 * these requests too.
 */
function resourceOf(parts: SeedParts, layer: LayerName | undefined, format: string | undefined): Resource {
  const named = layer === undefined ? {} : { layer };
  if (format === undefined) {
    const isSeedRequest = ({ headers, query }: Exchange, body: Uint8Array): boolean =>
      !query.has("kill_all") && !query.has("kill_thread") && looksLikeSeedRequest(headers["content-type"], body);
    return { ...named, browserPage: true, methods: { POST: postOf(parts, layer, isSeedRequest) } };
  }
  const GET = reading(async ({ headers }) =>
    listAnswer(await parts.operations.rows(layer), format === "xml" && prefersXml(headers.accept)),
  );
  if (layer === undefined) return { methods: { GET } };
  // The extension alone does not make a POST a seed request, because scripts send GWC's kill form to this path too.
  return { ...named, methods: { GET, POST: postOf(parts, layer, (_, body) => sniffFormat(body) !== undefined) } };
}

const listAnswer = (rows: readonly TaskRow[], xml: boolean): Answer =>
  xml
    ? { status: 200, type: "application/xml", body: encodeTaskListXml(rows) }
    : { status: 200, type: "application/json", body: encodeTaskListJson(rows) };

/**
 * Handles a POST to a layer or to all layers: a seed request if `isSeedRequest` returns true, else a kill or the seed
 * form.
 */
function postOf(
  parts: SeedParts,
  layer: LayerName | undefined,
  isSeedRequest: (exchange: Exchange, body: Uint8Array) => boolean,
): Handler {
  return operating(async (exchange) => {
    const body = await exchange.body(ok);
    if (!body.ok) return body;
    if (layer === undefined || !isSeedRequest(exchange, body.value))
      return formAnswer(parts, exchange, layer, new TextDecoder().decode(body.value));
    const made = await submit(parts, exchange, layer, decodeSeedRequest(body.value));
    if (!made.ok) return made;
    return {
      status: 200,
      type: "text/plain",
      body: "",
      ...madeJob(exchange, made.value.jobId),
      detail: made.value.detail,
    };
  });
}

/**
 * Validates a decoded request against its layer and submits the job. When the answer is sent, the tasks are in the task
 * list.
 */
async function submit(
  parts: SeedParts,
  exchange: Exchange,
  layerName: LayerName,
  decoded: Result<SeedRequest, Refusal>,
): Promise<Result<{ readonly jobId: number; readonly taskIds: readonly number[]; readonly detail: string }, Refusal>> {
  const layer = exchange.catalogue.layers.get(layerName);
  if (!decoded.ok) return layer === undefined ? decoded : refuse(withCoverage(decoded.error, layer));
  if (layer === undefined) return refuse(unknownLayer(layerName));
  const planned = planSeed(decoded.value, layer, parts.configured().jobs);
  if (!planned.ok) return planned;
  const made = await parts.operations.submit(planned.value, { by: exchange.by });
  return made.ok ? ok({ ...made.value, detail: jobDetail(planned.value) }) : made;
}

/**
 * Adds the layer's coverage to a refusal of `bounds`, so that the client gets the valid range
 * (`docs/reference/wire-format.md`, Seed request).
 */
function withCoverage(refusal: Refusal, { gridSubsets }: Layer): Refusal {
  if (refusal.isOfBounds !== true) return refusal;
  return { ...refusal, details: [...(refusal.details ?? []), `bounds lie in ${coverageText(gridSubsets)}`] };
}

/** Returns the id of a new job, with headers that name the job and link to its resource under `/api/v1`. */
export const madeJob = (exchange: Exchange, jobId: number) => ({
  headers: { Link: `<${exchange.base}/api/v1/jobs/${jobId}>; rel="monitor"`, "X-Job-Id": String(jobId) },
  jobId,
});

const WORDS: Readonly<Record<KillScope, string>> = {
  all: "Requested to terminate all tasks.",
  running: "Requested to terminate running tasks.",
  pending: "Requested to terminate pending tasks.",
};

/** Answers `kill_all`, `kill_thread` and, on a layer, the fields of the seed form. */
async function formAnswer(
  parts: SeedParts,
  exchange: Exchange,
  layer: LayerName | undefined,
  text: string,
): Promise<Reply> {
  const decoded = decodeKill(text, exchange.query);
  if (!decoded.ok) return decoded;
  const home = `${exchange.target.mount}/`;
  switch (decoded.value.kind) {
    case "scope": {
      const { scope } = decoded.value;
      const killed = await parts.operations.kill(scope, layer, exchange.by);
      const detail = `${scope} tasks of ${layer ?? "all layers"}: ${killed.length} ended`;
      return { ...pageAnswer(200, killedPage(killed, WORDS[scope], home)), detail };
    }
    case "task": {
      // The classic interface accepts `thread_id` only on the resource of the task's layer.
      if (layer === undefined) return refuse(nothingToKill());
      const { taskId } = decoded.value;
      const killed = await parts.operations.killTask(layer, taskId, exchange.by);
      const detail = `task ${taskId} of ${layer}: ${killed.length} ended`;
      const html = killedPage(killed, `Requested to terminate task ${taskId}.`, home);
      return { ...pageAnswer(200, html), detail };
    }
    case "none": {
      if (layer === undefined) return refuse(nothingToKill());
      const form = parseForm(text);
      if (!isSeedForm(form)) return refuse(neitherSeedNorKill(text));
      const made = await submit(parts, exchange, layer, decodeSeedForm(form));
      if (!made.ok) return made;
      const { headers, jobId } = madeJob(exchange, made.value.jobId);
      const html = seedSubmittedPage(layer, made.value.taskIds, home);
      return { ...pageAnswer(200, html, headers), jobId, detail: made.value.detail };
    }
  }
}
