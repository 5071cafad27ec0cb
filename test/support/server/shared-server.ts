import { afterAll, afterEach } from "vitest";
import { startUpstream, type Upstream } from "../upstream/upstream.ts";
import { startServer, type TestServer } from "./server.ts";
import { smallTiles } from "./wms-configuration.ts";

/** A test's part of a shared server. */
export interface ShareOfServer {
  readonly server: TestServer;
  /** A layer that no other test uses, and the map server that only this layer has. */
  readonly layer: string;
  readonly upstream: Upstream;
}

/**
 * Returns a function that gives each test of a file a separate layer on one server of small tiles. The first test
 * starts the server: a start, and renderers until their code is compiled, take longer than most tests. After each test
 * all jobs are killed. A test that restarts the server, or changes more than its layer, starts a separate server.
 *
 * @param tests the number of tests
 * @param options the options of each layer
 * @param more further parts of the configuration
 */
export function sharedByTests(
  tests: number,
  options: Omit<NonNullable<Parameters<typeof smallTiles>[1]>[number], "name" | "url"> = {},
  more = "",
): () => Promise<ShareOfServer> {
  let begun: ReturnType<typeof begin> | undefined;
  const begin = async () => {
    const upstreams = await Promise.all(Array.from({ length: tests }, startUpstream));
    const left = upstreams.map((upstream, n) => ({ upstream, layer: `ws:shared${n}` }));
    const layers = left.map(({ upstream: { url }, layer }) => ({ name: layer, url, ...options }));
    return { server: await startServer({ configuration: smallTiles("", layers, more) }), upstreams, left };
  };
  afterEach(async () => {
    if (begun !== undefined) await killAll((await begun).server);
  });
  afterAll(async () => {
    if (begun === undefined) return;
    const { server, upstreams } = await begun;
    await server.close();
    await Promise.all(upstreams.map((upstream) => upstream.close()));
  });
  return async () => {
    begun ??= begin();
    const { server, left } = await begun;
    const own = left.shift();
    if (own === undefined) throw new Error(`more than ${tests} tests share this server`);
    return { server, ...own };
  };
}

/** Kills all jobs. When it resolves, the jobs have stopped working. */
export async function killAll({ url }: TestServer): Promise<void> {
  const response = await fetch(`${url}/rest/seed`, { method: "POST", body: "kill_all=all" });
  if (response.status !== 200) throw new Error(`kill_all: ${response.status} ${await response.text()}`);
}
