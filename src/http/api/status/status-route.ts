import { ownVersion } from "../../../lib/process/version.ts";
import { ok } from "../../../lib/result.ts";
import { unlessDiskFault } from "../../errors.ts";
import type { RouteOptions } from "../../resource.ts";
import { operation } from "../api-operation.ts";
import type { Documents } from "../documents/documents.ts";
import { attentionOf } from "./attention.ts";

/** The most jobs of each state that the status reads. */
const MOST_JOBS = 100;
/** A failed job needs attention for this time. */
const FAILED_MS = 86_400_000;

/** The HTTP status of `/status` is 200 even if the server is not ready. Probes use `/readyz`. */
export const statusOperations = [
  operation(
    "GET /status",
    "getStatus",
    "Returns the version, readiness, jobs, usage, and the problems that need attention",
    { answer: "Status" },
    async (parts, { catalogue }) => ok(await statusOf(parts, catalogue.layers.size)),
  ),
];

async function statusOf(
  {
    operations,
    clock,
    readiness,
    upstreams: upstreamsNow,
    traffic,
    node,
    nodes: nodesNow,
  }: Pick<RouteOptions, "operations" | "clock" | "readiness" | "upstreams" | "traffic" | "node" | "nodes">,
  layerCount: number,
): Promise<Documents["Status"]> {
  const [{ jobs, stateLoss }, usage, quotaNow, overruled, upstreams, { layers: byLayer }, nodes, schedules, ...lists] =
    await Promise.all([
      operations.jobMetrics(),
      operations.usage({ tileSets: false, layer: undefined }),
      operations.quota(),
      operations.overruledQuota(),
      upstreamsNow(),
      traffic({ window: "PT1H", layer: undefined }),
      node === undefined ? [] : nodesNow(),
      unlessDiskFault(operations.scheduleHealth()),
      ...(["running", "pending", "done", "aborted"] as const).map((state) =>
        unlessDiskFault(operations.jobs({ state, limit: MOST_JOBS })),
      ),
    ]);
  const [running = [], pending = [], done = [], aborted = []] = lists;
  const { total, layers, bytesOnDisk, quota, quotaCount, disk } = usage;
  const state = readiness();
  const countOf = (name: (typeof jobs)[number]["state"]): number =>
    jobs.find((each) => each.state === name)?.count ?? 0;
  return {
    version: ownVersion(),
    node: node?.name ?? null,
    ready: state.ready,
    reason: state.ready ? null : state.reason,
    stateLoss,
    layers: layerCount,
    jobs: { pending: countOf("pending"), running: countOf("running"), paused: countOf("paused") },
    usage: { ...total, bytesOnDisk, complete: layers.every(({ complete }) => complete), quota, quotaCount },
    disk,
    attention: attentionOf({
      notReady: state.ready ? null : state.reason,
      nodes,
      upstreams,
      traffic: byLayer,
      active: [...running, ...pending],
      ended: [...done, ...aborted],
      failedSinceMs: clock.now() - FAILED_MS,
      usage,
      schedules,
      quota: quotaNow,
      overruled,
    }),
  };
}
