import { codeOf } from "../../lib/error-code.ts";
import { unlessDiskFault } from "../errors.ts";
import { type Route, type RouteOptions, reading } from "../resource.ts";
import type { ClusterSample, RenderMetrics, Sample, WholeSample } from "./metrics-sample.ts";

type MetricsParts = Pick<
  RouteOptions,
  "operations" | "metrics" | "ownMetrics" | "readiness" | "node" | "nodes" | "lead"
>;

/** `/metrics`: metrics as Prometheus text. The text names layers and upstreams, so the route needs credentials. */
export function metricsRoute(parts: MetricsParts): Route {
  return {
    owns: (first) => first === "metrics",
    resourceAt: (segments) => {
      if (segments.length !== 1 || segments[0] !== "metrics") return undefined;
      return {
        methods: {
          GET: reading(async () => {
            // Loaded with the first scrape, so that other servers start faster.
            const { metricsText, METRICS_TYPE } = await import("./prometheus.ts");
            return { status: 200, type: METRICS_TYPE, body: await metricsText(await sampleOf(parts)) };
          }),
        },
      };
    },
  };
}

/** Returns the metrics of a server without a cluster, or of a node, whose own metrics need no lead. */
async function sampleOf(parts: MetricsParts): Promise<Sample> {
  const { metrics, ownMetrics, readiness, node } = parts;
  const isReady = readiness().ready;
  if (node === undefined) {
    const server = await metrics();
    return { isReady, serving: server, whole: await wholeOf(parts, server), node: undefined };
  }
  const { name, leads, leaseLeftMs, takeovers } = node;
  const serving = await ownMetrics();
  const led = leads ? await unlessLost(ledOf(parts)) : undefined;
  const self = { name, leads: led !== undefined, leaseLeftMs, takeovers };
  return { isReady, serving, whole: led?.whole, node: { node: self, cluster: led?.cluster } };
}

/** Returns the metrics that only the leading node reports. */
async function ledOf(parts: MetricsParts): Promise<Pick<Sample, "whole"> & { readonly cluster: ClusterSample }> {
  const { metrics, nodes, lead } = parts;
  const [server, listed, led] = await Promise.all([metrics(), nodes(), lead()]);
  if (led === undefined) throw Object.assign(new Error("this node no longer leads"), { code: "unavailable" });
  return { whole: await wholeOf(parts, server), cluster: { lead: led, nodes: listed } };
}

async function wholeOf({ operations }: MetricsParts, renders: RenderMetrics): Promise<WholeSample> {
  const [jobs, usage, quota, schedules] = await Promise.all([
    operations.jobMetrics(),
    operations.usage({ tileSets: false, layer: undefined }),
    operations.quota(),
    unlessDiskFault(operations.scheduleHealth()),
  ]);
  return { jobs, usage, quota, schedules, renders };
}

/** Returns undefined if the lead has ended during the call. */
async function unlessLost<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (codeOf(error) === "unavailable") return undefined;
    throw error;
  }
}
