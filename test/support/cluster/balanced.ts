import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { schemaOf, sharedPostgres } from "../postgres/postgres.ts";
import { removed } from "../removed.ts";
import type { ServerOptions, TestServer } from "../server/test-server.ts";
import { isReady } from "../until.ts";

/** The number of nodes on which the tests run. */
export const TEST_NODES = Number(process.env["NUTHATCH_TEST_NODES"] ?? "1");

/** The tests run on several nodes. */
export const severalNodes = TEST_NODES > 1;

/**
 * Returns whether tests are skipped because they run on several nodes, and says so.
 * @param reason what a cluster lacks or does differently
 */
export function skippedOnNodes(reason: string): boolean {
  if (severalNodes) console.warn(`SKIPPED on several nodes: ${reason}`);
  return severalNodes;
}

/** Starts one server. */
type StartOne = (options: ServerOptions) => Promise<TestServer>;

/**
 * Starts nodes of a cluster with a balancer in front of them, which gives each connection to the next node. So any test
 * of a server can run on several.
 */
export async function startBalanced(all: ServerOptions, nodes: number, startOne: StartOne): Promise<TestServer> {
  // A port that a test names is the port of the balancer.
  const { NUTHATCH_PORT: wanted = "0", ...env } = all.env ?? {};
  const options = { ...all, env };
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), "nuthatch-test-"));
  // All nodes read one file.
  const file = join(dataDir, "nuthatch.yaml");
  // A cluster has more nodes instead of more workers.
  if (options.configuration !== undefined)
    writeFileSync(file, options.configuration.replace(/\bworkers: \d+/g, "workers: 1"));
  const started: TestServer[] = [];
  for (let n = 0; n < nodes; n++)
    started.push(
      await startOne(
        nodeOptions(options, dataDir, n, options.configuration === undefined ? {} : { NUTHATCH_CONFIG: file }),
      ),
    );
  await Promise.all(started.map(isReady));
  const balancer = await startBalancer(
    Number(wanted),
    started.map(({ port }) => port),
  );
  const [first] = started;
  if (first === undefined) throw new Error("there is a node");
  const port = balancer.port;
  const kill = async (signal: NodeJS.Signals): Promise<number | null> => {
    const codes = await Promise.all(started.map((node) => node.kill(signal)));
    await balancer.close();
    return codes.find((code) => code !== 0) ?? 0;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    dataDir,
    pid: first.pid,
    log: () => started.map((node) => node.log()).join("\n"),
    kill,
    async restart(signal = "SIGKILL") {
      await kill(signal);
      return startBalanced({ ...all, dataDir }, nodes, startOne);
    },
    async close() {
      await kill("SIGKILL");
      await removed(dataDir);
    },
  };
}

/** Returns the options of one node: its own directory, and the database and the store of all. */
function nodeOptions(
  { configuration: _, ...options }: ServerOptions,
  directory: string,
  n: number,
  file: Readonly<Record<string, string>>,
): ServerOptions {
  const dataDir = join(directory, `node-${n}`);
  mkdirSync(dataDir, { recursive: true });
  const postgres = sharedPostgres();
  const schema = schemaOf(directory);
  postgres.sql(`SET client_min_messages = warning; CREATE SCHEMA IF NOT EXISTS ${schema}`);
  const env = {
    NUTHATCH_STATE_TYPE: "postgres",
    NUTHATCH_STATE_URL: `${postgres.url("postgres")}&options=-c%20search_path%3D${schema}`,
    NUTHATCH_STORES: JSON.stringify([{ id: "main", type: "file", path: join(directory, "tiles") }]),
    NUTHATCH_CLUSTER_NODE: `node-${n}`,
    NUTHATCH_CLUSTER_LISTEN: "127.0.0.1:0",
    NUTHATCH_CLUSTER_SECRET: "the-secret-of-the-tests",
    // A busy machine is no loss of a node.
    NUTHATCH_CLUSTER_NODE_LEASE_SECONDS: "15",
    NUTHATCH_CLUSTER_LEAD_LEASE_SECONDS: "60",
  };
  return { ...options, dataDir, env: { ...env, ...file, ...options.env } };
}

/** Gives each connection to the next of `ports`. @param at where it listens; 0: a free port */
async function startBalancer(
  at: number,
  ports: readonly number[],
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const open = new Set<Socket>();
  let next = 0;
  const server: Server = createServer({ allowHalfOpen: true }, (client) => {
    const node = connect({ port: ports[next++ % ports.length] ?? 0, host: "127.0.0.1", allowHalfOpen: true });
    for (const [from, to] of [
      [client, node],
      [node, client],
    ] as const) {
      open.add(from);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        open.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => server.listen(at, "127.0.0.1", resolve));
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    close: () =>
      new Promise((resolve) => {
        for (const socket of open) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
