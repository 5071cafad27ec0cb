import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { type CutProxy, type Owner, ownersAmong, startCutProxy } from "../network/cut-proxy.ts";
import { freePorts } from "../network/free-ports.ts";
import { type Postgres, removePostgres, startPostgres } from "../postgres/postgres.ts";
import { type S3Proxy, startS3Proxy } from "../s3/proxy.ts";
import { NO_VERSITYGW, type S3Server, startS3 } from "../s3/server.ts";
import type { TestServer } from "../server/server.ts";
import { isReady } from "../until.ts";
import { newCluster, type TestCluster } from "./cluster.ts";

/** The S3 service of the tests of clusters: the service that starts sooner. */
export const SERVICE = NO_VERSITYGW === undefined ? "versitygw" : "SeaweedFS";
const PREFIX = "cluster";

/** Nodes, PostgreSQL and a bucket, of which every connection leads through a proxy. */
export interface ProxiedCluster {
  readonly cluster: TestCluster;
  /** The nodes that were started, by name. */
  readonly nodes: Map<string, TestServer>;
  /** By the node that is reached through it while it leads. */
  readonly links: ReadonlyMap<string, CutProxy>;
  readonly database: CutProxy;
  readonly bucket: CutProxy;
  /** Behind `bucket`. */
  readonly requests: S3Proxy;
  readonly postgres: Postgres;
  readonly service: S3Server;
  /** Starts a node. Resolves when it is ready, unless it can only wait. */
  start(name: string, more?: { readonly keys?: string; readonly env?: Record<string, string> }): Promise<TestServer>;
  /** Returns the options of the store, without a proxy. */
  readonly options: ReturnType<S3Server["options"]>;
}

export interface ProxiedClusterOptions {
  readonly upstream: string;
  readonly names: readonly string[];
  readonly layers?: Parameters<typeof newCluster>[0]["layers"];
  readonly keys: string;
  readonly more?: string;
  /** Closes started resources at the end of the test. */
  readonly atEnd: (end: () => Promise<void>) => void;
}

export async function startProxiedCluster(options: ProxiedClusterOptions): Promise<ProxiedCluster> {
  const { names, atEnd, keys, more = "" } = options;
  const service = await startS3(SERVICE);
  atEnd(async () => await service[Symbol.asyncDispose]());
  const directory = join(tmpdir(), `nuthatch-cluster-${randomUUID()}`);
  const postgres = startPostgres(directory);
  atEnd(async () => removePostgres(directory));
  const nodes = new Map<string, TestServer>();
  const ownerOf = ownersAmong(() => [...nodes].map(([name, { pid }]) => [name, pid] as const));
  const ports = await freePorts(2 * names.length + 2);
  const proxied = async (to: string | number, owner = ownerOf): Promise<CutProxy> => {
    const proxy = await startCutProxy(ports.pop() ?? 0, to, owner);
    atEnd(() => proxy.close());
    return proxy;
  };
  const requests = await startS3Proxy(service.endpoint);
  atEnd(async () => await requests[Symbol.asyncDispose]());
  const bucket = await proxied(Number(new URL(requests.endpoint).port));
  const database = await proxied(postgres.socket);
  const listens = new Map(names.map((name) => [name, ports.pop() ?? 0]));
  const links = new Map<string, CutProxy>();
  for (const name of names) links.set(name, await proxied(listens.get(name) ?? 0));
  const account = "accessKeyId: nuthatch, secretAccessKey: nuthatch-secret";
  const place = `endpoint: "http://127.0.0.1:${bucket.port}", bucket: tiles, prefix: ${PREFIX}, pathStyle: true`;
  const cluster = newCluster({
    upstream: options.upstream,
    ...(options.layers === undefined ? {} : { layers: options.layers }),
    state: () => `postgres://nuthatch@127.0.0.1:${database.port}/postgres`,
    stores: `[{ id: main, type: s3, ${place}, ${account} }]`,
    keys,
    more,
    link: (name) => ({ listen: listens.get(name) ?? 0, advertise: links.get(name)?.port ?? 0 }),
  });
  atEnd(() => cluster.close());
  return {
    cluster,
    nodes,
    links,
    database,
    bucket,
    requests,
    postgres,
    service,
    options: service.options(PREFIX),
    async start(name, { keys: own, env } = {}) {
      const node = await cluster.start(name, more, own ?? keys, env);
      nodes.set(name, node);
      await isReady(node);
      return node;
    },
  };
}

/** Returns the proxy through which a node is reached while it leads. */
export const linkTo = ({ links }: ProxiedCluster, name: string): CutProxy =>
  links.get(name) ?? expect.fail(`there is a node ${name}`);

/** Selects the connections of the process of a node. */
export const ofNode =
  (name: string) =>
  (owner: Owner | undefined): boolean =>
    owner?.node === name && !owner.isLead;

/** Selects the connections of the lead that a node has: of its coordinator and its renderers. */
export const ofLead =
  (name: string) =>
  (owner: Owner | undefined): boolean =>
    owner?.node === name && owner.isLead;
