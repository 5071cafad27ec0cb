import { unlessDiskFault } from "../errors.ts";
import { type Route, type RouteOptions, reading } from "../resource.ts";

/** `/metrics`: metrics as Prometheus text. They name layers and upstreams, so the route needs credentials. */
export function metricsRoute({
  operations,
  metrics,
  readiness,
}: Pick<RouteOptions, "operations" | "metrics" | "readiness">): Route {
  return {
    owns: (first) => first === "metrics",
    resourceAt: (segments) => {
      if (segments.length !== 1 || segments[0] !== "metrics") return undefined;
      return {
        methods: {
          GET: reading(async () => {
            // Loaded by the first scrape, so that servers without scrapes start faster.
            const { metricsText, METRICS_TYPE } = await import("./prometheus.ts");
            const [jobs, usage, quota, schedules, server] = await Promise.all([
              operations.jobMetrics(),
              operations.usage({ tileSets: false, layer: undefined }),
              operations.quota(),
              unlessDiskFault(operations.scheduleHealth()),
              metrics(),
            ]);
            return {
              status: 200,
              type: METRICS_TYPE,
              body: await metricsText({ jobs, usage, quota, schedules, isReady: readiness().ready, server }),
            };
          }),
        },
      };
    },
  };
}
