import { isLoopback } from "../../../lib/http/loopback.ts";
import { isRemote, isShareable, type StoreOptions } from "../../../store/store-options.ts";
import type { ClusterOptions } from "../../cluster-options.ts";
import type { Problems } from "../read/problems.ts";
import type { Document } from "../read/read-document.ts";

const SHORT_SECRET = 16;

/**
 * Builds the options of the cluster, and checks settings of other sections that a cluster requires. Undefined without a
 * cluster.
 */
export function buildCluster(document: Document, problems: Problems, warnings: string[]): ClusterOptions | undefined {
  const { cluster, state, stores, server } = document;
  if (cluster === undefined) return undefined;
  const { node, listen, advertise, secret, cutOff, nodeLeaseSeconds, leadLeaseSeconds } = cluster;
  if (state.type !== "postgres")
    problems.add(["cluster"], "a cluster has its state in PostgreSQL: expected state with type: postgres");
  if (stores === undefined)
    problems.add(["cluster"], "a cluster needs stores that all nodes see: expected stores, such as one of type: s3");
  for (const [i, store] of (stores ?? []).entries())
    if (store !== undefined && !isShareable(store.type))
      problems.add(["stores", i, "type"], `a ${store.type} store has writers on one machine, so nodes cannot share it`);
  if (server.workers > 1)
    problems.expected(
      ["server", "workers"],
      "1 in a cluster, where more nodes do what more workers do",
      server.workers,
    );
  if (secret === undefined) {
    if (!isLoopback(listen.host) || (advertise !== undefined && !isLoopback(advertise.host)))
      problems.add(["cluster"], "nodes that talk beyond this machine need secret, the same on all of them");
  } else if (secret.length < SHORT_SECRET)
    warnings.push(`cluster.secret has fewer than ${SHORT_SECRET} characters, so that it may be guessed`);
  if (leadLeaseSeconds <= nodeLeaseSeconds)
    problems.expected(
      ["cluster", "leadLeaseSeconds"],
      `more than nodeLeaseSeconds (${nodeLeaseSeconds})`,
      leadLeaseSeconds,
    );
  return {
    node,
    listen,
    advertise,
    secret,
    cutOff,
    nodeLeaseMs: nodeLeaseSeconds * 1000,
    leadLeaseMs: leadLeaseSeconds * 1000,
  };
}

/** Sets the cluster's time limit of a put for all stores in S3. */
export function clusterStores(
  stores: readonly StoreOptions[],
  { cluster }: Document,
  problems: Problems,
): readonly StoreOptions[] {
  const { putSeconds, leadLeaseSeconds } = cluster ?? { leadLeaseSeconds: 0 };
  if (putSeconds !== undefined && putSeconds > leadLeaseSeconds)
    problems.expected(["cluster", "putSeconds"], `at most leadLeaseSeconds (${leadLeaseSeconds})`, putSeconds);
  return stores.map((store) => (isRemote(store) && putSeconds !== undefined ? { ...store, putSeconds } : store));
}
