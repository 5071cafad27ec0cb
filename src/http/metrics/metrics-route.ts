import type { Operations } from "../../coordinator/operations.ts";
import type { Route } from "../resource.ts";
import type { ServerMetrics } from "./metrics-sample.ts";

/** `/metrics`: metrics as Prometheus text. They name layers and upstreams, so the route needs credentials. */
export function metricsRoute(parts: {
  readonly operations: Operations;
  readonly metrics: () => Promise<ServerMetrics>;
}): Route {
  const { operations, metrics } = parts;
  return {
    owns: (first) => first === "metrics",
    resourceAt: (segments) => {
      if (segments.length !== 1 || segments[0] !== "metrics") return undefined;
      return {
        methods: {
          GET: {
            need: "read",
            async handle() {
              // Loaded by the first scrape, so that servers without scrapes start faster.
              const { metricsText, METRICS_TYPE } = await import("./prometheus.ts");
              const [jobs, usage, quota, server] = await Promise.all([
                operations.jobMetrics(),
                operations.usage({ tileSets: false, layer: undefined }),
                operations.quota(),
                metrics(),
              ]);
              return {
                status: 200,
                type: METRICS_TYPE,
                body: await metricsText({ jobs, usage, quota, server }),
              };
            },
          },
        },
      };
    },
  };
}
