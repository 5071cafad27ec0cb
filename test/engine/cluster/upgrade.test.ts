import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectToNode } from "../../../src/app/cluster/link/connections.ts";
import { FramedPort } from "../../../src/app/cluster/link/framed-port.ts";
import { LINK_VERSION, type LinkVersion } from "../../../src/app/cluster/link/link-version.ts";
import type { LeadMethods, NodeHello } from "../../../src/app/cluster/link/node-methods.ts";
import { parseHostPort } from "../../../src/configuration/cluster-options.ts";
import { Channel, type Message, remoteMethods, type Sendings } from "../../../src/lib/process/channel.ts";
import { ownVersion } from "../../../src/lib/process/version.ts";
import { newCluster, nodesOf, type TestCluster } from "../../support/cluster/cluster.ts";
import { hasPostgres } from "../../support/postgres/postgres.ts";
import { buildNext, NEXT_VERSION, type OtherBuild } from "../../support/server/next-build.ts";
import { ended, job, massTruncate, seed, type TestServer, usage } from "../../support/server/server.ts";
import { isReady, until } from "../../support/until.ts";
import { type HeldUpstream, hold } from "../../support/upstream/held-upstream.ts";
import { type MapRequested, startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

if (!hasPostgres) console.warn("SKIPPED: test/engine/cluster/upgrade.test.ts needs Debian's package postgresql");

const LAYER = "ws:roads";
const STORED = `/xyz/other/3/2/5.png`;
/** Of levels 0 to 5. */
const TILES = 1365;
const WORLD = 40_075_017;
const widthOf = ({ bbox }: MapRequested): number => {
  const [minX = 0, , maxX = 0] = bbox.split(",").map(Number);
  return maxX - minX;
};
const NAMES = ["a", "b", "c"] as const;
type Name = (typeof NAMES)[number];

/** Methods that a later version could have. */
interface Newer {
  newerCall(): Promise<void>;
  newerNote(): void;
}
const NEWER: Sendings<Newer> = { newerCall: "call", newerNote: "note" };

/** A cluster of both versions, and clients that never stop. */
class MixedCluster {
  readonly #cluster: TestCluster;
  readonly #next: string;
  readonly #held: HeldUpstream;
  readonly nodes = new Map<Name, TestServer>();
  /** How the reads of a stored tile were answered, and by which node. */
  readonly reads = new Set<string>();

  constructor(cluster: TestCluster, next: string, held: HeldUpstream) {
    this.#cluster = cluster;
    this.#next = next;
    this.#held = held;
  }

  async start(name: Name, program: "now" | "next"): Promise<TestServer> {
    const node = await this.#cluster.start(name, undefined, undefined, {}, program === "now" ? undefined : this.#next);
    await isReady(node);
    this.nodes.set(name, node);
    return node;
  }

  get(name: Name): TestServer {
    return this.nodes.get(name) ?? expect.fail(`node ${name} runs`);
  }

  /** Replaces the program of a node, as an upgrade does. */
  async exchange(name: Name): Promise<void> {
    const node = this.get(name);
    // The balancer has taken it out.
    this.nodes.delete(name);
    // It ends when its renders have ended.
    const releasing = setInterval(() => this.#held.release(1), 100);
    try {
      expect(await node.kill("SIGTERM")).toBe(0);
    } finally {
      clearInterval(releasing);
    }
    await this.start(name, "next");
  }

  /** Returns the name of the node that leads, when one does. */
  async lead(): Promise<string> {
    return until("a node leads", async () => {
      const [node] = this.nodes.values();
      return node === undefined ? undefined : (await nodesOf(node).catch(() => [])).find(({ lead }) => lead)?.name;
    });
  }

  /** Reads a stored tile from all nodes in turns. */
  async read(over: AbortSignal): Promise<void> {
    for (let n = 0; !over.aborted; n++) {
      const running = [...this.nodes];
      const [name, node] = running[n % running.length] ?? expect.fail("a node runs");
      const response = await fetch(node.url + STORED).catch((error: unknown) => error);
      // A node that is drained during the request may close the connection.
      if (!(response instanceof Response)) {
        if (this.nodes.get(name) === node) this.reads.add(`${name}: ${String(response)}`);
        continue;
      }
      const text = await response.text();
      const result = response.headers.get("geowebcache-cache-result") ?? "";
      this.reads.add(`${response.status} ${response.status === 200 ? result : text}`);
      await sleep(40);
    }
  }

  /** No node serves tiles that another node has truncated. */
  async truncationsHold(): Promise<void> {
    const tile = `/xyz/${LAYER}/2/1/1.png`;
    const result = async (node: TestServer): Promise<string | null> => {
      const response = await fetch(node.url + tile);
      await response.arrayBuffer();
      return response.headers.get("geowebcache-cache-result");
    };
    for (const by of this.nodes.values()) {
      for (const node of this.nodes.values()) await result(node);
      await until("the truncation is answered", async () =>
        (await massTruncate(by, LAYER)).status === 200 ? true : undefined,
      );
      const [first, ...others] = this.nodes.values();
      if (first === undefined) expect.fail("a node runs");
      expect(await result(first)).toBe("MISS");
      for (const node of others) expect(await result(node)).toBe("HIT");
    }
  }
}

describe.skipIf(!hasPostgres)("the next version beside this one", () => {
  let upstream: Upstream;
  let next: OtherBuild;

  beforeAll(async () => {
    if (hasPostgres) next = buildNext();
    upstream = await startUpstream();
  });
  afterAll(async () => {
    next?.remove();
    await upstream?.close();
  });

  test("nodes are exchanged one after the other: jobs go on, stored tiles are hits, and truncations hold", {
    timeout: 900_000,
  }, async ({ onTestFinished }) => {
    const cluster = newCluster({
      upstream: upstream.url,
      layers: [{ name: LAYER }, { name: "other" }, { name: "seeded" }],
      // Long ones: on a busy machine the next lead takes seconds to begin.
      keys: "nodeLeaseSeconds: 10, leadLeaseSeconds: 20",
    });
    onTestFinished(() => cluster.close());
    const held = hold(upstream);
    const holding = upstream.behaviour;
    // Most metatiles of the seed wait, so that the seed lasts as long as the exchange. Metatiles of readers are larger.
    upstream.behaviour = (request, response) => (widthOf(request) < WORLD / 3 ? holding(request, response) : "render");
    const mixed = new MixedCluster(cluster, next.program, held);
    for (const name of NAMES) await mixed.start(name, "now");
    await (await fetch(mixed.get("a").url + STORED)).arrayBuffer();
    const id = await seed(mixed.get("b"), "seeded", {
      gridSetId: "EPSG:900913",
      zoomStart: 0,
      zoomStop: 5,
      threadCount: 2,
    });
    const over = new AbortController();
    const reading = mixed.read(over.signal);
    try {
      const progress: number[] = [];
      const step = async (): Promise<void> => {
        const [node] = mixed.nodes.values();
        if (node === undefined) expect.fail("a node runs");
        const before = progress.at(-1) ?? 0;
        progress.push(
          await until("the job goes on", async () => {
            held.release(1);
            const { stored } = (await job(node, id)).tiles;
            return stored > before ? stored : undefined;
          }),
        );
        await mixed.truncationsHold();
      };
      await step();
      // The first new node joins a lead of this version.
      expect(await mixed.lead()).toBe("a");
      await mixed.exchange("a");
      expect(["b", "c"]).toContain(await mixed.lead());
      await step();
      // Then this node leads, because the other node that could lead is drained.
      const old = (await mixed.lead()) === "b" ? "c" : "b";
      const leading = old === "b" ? "c" : "b";
      const drained = await fetch(`${mixed.get("a").url}/api/v1/nodes/${old}/drain`, { method: "POST" });
      expect(drained.status).toBe(200);
      await mixed.exchange(leading);
      expect(["a", leading]).toContain(await mixed.lead());
      const undrained = await fetch(`${mixed.get(old).url}/api/v1/nodes/${old}/drain`, { method: "DELETE" });
      expect(undrained.status).toBe(200);
      await isReady(mixed.get(old));
      await step();
      const listed: { nodes: { name: string; version: string | null }[] } = await (
        await fetch(`${mixed.get(old).url}/api/v1/nodes`)
      ).json();
      expect(listed.nodes.map(({ name, version }) => [name, version])).toEqual(
        NAMES.map((name) => [name, name === old ? ownVersion() : NEXT_VERSION]),
      );
      await mixed.exchange(old);
      await step();
      expect(progress.at(-1), "the seed was under way all the time").toBeLessThan(TILES);
      held.isOpen = true;
      held.release();
      const done = await ended(mixed.get("a"), id);
      expect([done.outcome, done.tiles.total, done.tiles.stored + done.tiles.skipped]).toEqual(["done", TILES, TILES]);
      const { layers } = await usage(mixed.get("b"));
      expect(layers.find(({ layer }) => layer === "seeded")?.tiles).toBe(TILES);
    } finally {
      over.abort();
      await reading;
    }
    // On a busy machine the next lead may begin after the end of a lease. Nothing else is ever answered.
    expect([...mixed.reads].filter((answer) => !/^503 .*has no lease of the lead/.test(answer))).toEqual(["200 HIT"]);
    for (const node of mixed.nodes.values()) expect(node.log()).not.toMatch(/unhandled|no method|report.* failed/i);
  });
});

describe.skipIf(!hasPostgres)("a node of another version", () => {
  let cluster: TestCluster;
  let upstream: Upstream;
  let lead: TestServer;

  beforeAll(async () => {
    upstream = await startUpstream();
    cluster = newCluster({ upstream: upstream.url });
    lead = await cluster.start("a");
    await isReady(lead);
  });
  afterAll(async () => {
    await cluster?.close();
    await upstream?.close();
  });

  /** Connects as a node does. */
  async function connect(): Promise<{ readonly channel: Channel<Record<never, never>, LeadMethods>; socket: Socket }> {
    const [, address = ""] = /"address":"([^"]+)"[^\n]*this node leads/.exec(lead.log()) ?? [];
    const socket = await connectToNode(parseHostPort(address) ?? expect.fail(lead.log()), "a-secret-of-the-test");
    return { channel: new Channel(new FramedPort(socket), {}), socket };
  }

  const logged = (text: string): Promise<true> =>
    until(`the log has: ${text}`, async () => lead.log().includes(text) || undefined);

  const hello = (version: LinkVersion): NodeHello => ({
    ...version,
    instance: randomUUID(),
    name: "z",
    stores: new Map(),
    isDraining: false,
    renderers: 0,
  });

  test("whose messages have another version is refused, and both versions are named", async () => {
    const { channel, socket } = await connect();
    const welcome = await channel.call("join", hello({ version: LINK_VERSION + 1, program: "9.0.0" }));
    expect(welcome).toMatchObject({ kind: "refused" });
    expect(welcome).toHaveProperty(
      "reason",
      expect.stringMatching(
        /^its messages have version \d+ \(Nuthatch 9\.0\.0\), and those of the lead version \d+ \(Nuthatch \d+\.\d+\.\d+\), but all nodes of a cluster need the same: stop the other nodes/,
      ),
    );
    socket.destroy();
  });

  test("that sends a message which the lead does not know gets an error, or its connection ends", async () => {
    const { channel, socket } = await connect();
    // Of an interface that the lead does not have.
    const newer = remoteMethods<Newer>(channel as unknown as Channel<Record<never, never>, Newer>, NEWER);
    await expect(newer.newerCall()).rejects.toMatchObject({ code: "unknown_method" });
    const closed = once(socket, "close");
    newer.newerNote();
    await closed;
    await logged("no method newerNote on this side of the channel");
    expect((await fetch(`${lead.url}/readyz`)).status).toBe(200);
  });

  test("that sends something which is no message loses its connection, and the lead goes on", async () => {
    const { socket } = await connect();
    const closed = once(socket, "close");
    new FramedPort(socket).postMessage({ kind: "newer" } as unknown as Message);
    await closed;
    await logged("it is no message of a channel");
    expect((await fetch(`${lead.url}/readyz`)).status).toBe(200);
  });
});
