import { ownVersion } from "../../../lib/version.ts";
import type { Resource, RouteOptions } from "../../resource.ts";
import { documentAnswer, reader } from "../api-answer.ts";

/**
 * `status`: the state of the server in a few numbers. The status is 200 even if the server is not ready; probes use
 * `/readyz`.
 */
export function statusResource({ operations, readiness }: RouteOptions): Resource {
  const version = ownVersion();
  return reader(async ({ catalogue }) => {
    const [{ jobs, stateLoss }, { total, bytesOnDisk, quota, disk }] = await Promise.all([
      operations.jobMetrics(),
      operations.usage({ tileSets: false, layer: undefined }),
    ]);
    const state = readiness();
    const countOf = (name: (typeof jobs)[number]["state"]): number =>
      jobs.find((each) => each.state === name)?.count ?? 0;
    return documentAnswer("Status", {
      version,
      ready: state.ready,
      reason: state.ready ? null : state.reason,
      stateLoss,
      layers: catalogue.layers.size,
      jobs: { pending: countOf("pending"), running: countOf("running"), paused: countOf("paused") },
      usage: { ...total, bytesOnDisk, quota },
      disk,
    });
  });
}
