import { randomUUID } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import { startServing } from "../../../../test/support/server/serving.ts";
import { silentLog } from "../../../../test/support/silent-log.ts";
import { loadConfiguration } from "../../../configuration/load.ts";
import { storeLocationsById } from "../../../configuration/store-locations.ts";
import { TileTimes } from "../../../http/tiles/tile-times.ts";
import { Channel } from "../../../lib/process/channel.ts";
import { localMethods } from "../../../lib/process/method-table.ts";
import { machineRandom } from "../../../lib/random/machine-random.ts";
import { ok } from "../../../lib/result.ts";
import { machineClock } from "../../../lib/time/machine-clock.ts";
import { type MemberMethods, SERVING_PROCESS } from "../../process/process-methods.ts";
import { servingProcessesConformance } from "../../process/serving-processes.conformance.ts";
import type { RendererHost } from "../../server/renderers/renderer-host.ts";
import { connectToNode } from "../link/connections.ts";
import { FramedPort } from "../link/framed-port.ts";
import { LINK_VERSION, ownLinkVersion } from "../link/link-version.ts";
import { LEAD, LEAD_CLOSING, type NodeHello, type NodeMethods } from "../link/node-methods.ts";
import { LeadLink } from "../node/lead-link.ts";
import { NodePool } from "./node-pool.ts";

/** Longer than a test, so that no lease ends and no close is cut short. */
const LONG_MS = 600_000;
const OWN = "the lead's node";

/** Returns a promise, and a function that resolves it. */
function held(): { readonly promise: Promise<void>; readonly release: () => void } {
  let release = (): void => {};
  const promise = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { promise, release };
}

/** Starts a lead that nodes can join. The nodes are clients of real connections. */
async function startPool(nodeLeaseMs = LONG_MS, lease = { isValid: true, leftMs: LONG_MS }) {
  const loaded = await loadConfiguration({ env: {}, flags: {}, cwd: "/" });
  if (!loaded.ok) expect.fail("the default configuration is valid");
  const configuration = loaded.value;
  const hosts = new Set<RendererHost>();
  const warnings: unknown[] = [];
  const pool = new NodePool({
    configuration,
    cluster: {
      node: "a",
      listen: { host: "127.0.0.1", port: 0 },
      advertise: undefined,
      secret: undefined,
      cutOff: "refuse",
      nodeLeaseMs,
      leadLeaseMs: LONG_MS,
    },
    clock: machineClock,
    random: machineRandom,
    instance: OWN,
    epoch: 1,
    lease,
    table: {
      knownNodes: async () => ok([]),
      keepNode: async () => ok(null),
      forgetNode: async () => ok(null),
    },
    // No test calls the core of the server.
    core: new LeadLink(machineClock, silentLog).core(),
    hosts: {
      add: (host) => void hosts.add(host),
      remove: async (host) => void hosts.delete(host),
      workOf: () => ({ renders: 0, metatiles: 0 }),
    },
    log: { ...silentLog, warn: (sentence, fields) => void warnings.push({ sentence, ...fields }) },
  });
  const { port } = await pool.listen("127.0.0.1", 0);
  await pool.ready({ ready: true });
  let closed: Promise<void> | undefined;
  /** Closes the lead. Resolves after it has closed. */
  const close = (): Promise<void> => {
    closed ??= pool.close(LONG_MS);
    return closed;
  };
  onTestFinished(close);

  /** Requests to join as a node of this name. `drain` is the node's method of this name. */
  const ask = async (
    name: string,
    drain: NodeMethods["drain"] = async () => {},
    more: Partial<NodeHello> = {},
    served: Partial<MemberMethods> = {},
  ) => {
    const socket = await connectToNode({ host: "127.0.0.1", port }, undefined, machineClock);
    onTestFinished(() => void socket.destroy());
    const methods: Pick<NodeMethods, "begin" | "closing" | "drain" | "metrics"> & Partial<MemberMethods> = {
      begin: () => {},
      closing: async () => {},
      drain,
      metrics: async () => ({
        tiles: new Map(),
        times: new TileTimes().view(),
        memory: { tiles: 0, bytes: 0, limitBytes: 0 },
        diskTiers: [],
        failedRenewals: new Map(),
        maps: 0,
        cutOffTiles: 0,
        failedChanges: 0,
        listeners: 0,
      }),
      ...served,
    };
    const lead = new Channel(new FramedPort(socket), methods, LEAD).remote;
    const hello: NodeHello = {
      ...ownLinkVersion(),
      instance: randomUUID(),
      name,
      stores: storeLocationsById(configuration),
      isDraining: false,
      renderers: 2,
      ...more,
    };
    return { welcome: await lead.join(hello), lead, socket };
  };
  const join = async (...node: Parameters<typeof ask>) => {
    const { welcome, ...joined } = await ask(...node);
    expect(welcome).toMatchObject({ kind: "joined" });
    return joined;
  };
  return { pool, configuration, ask, join, close, warnings, rendering: () => [...hosts].map(({ node }) => node) };
}

const ALREADY = "the lead has begun to close";

test("the drain of the node that leads is answered with its row, though the lead closes before the answer", async () => {
  const { join, close } = await startPool();
  const closing = held();
  await join(
    "a",
    async () => {
      void close();
      closing.release();
    },
    { instance: OWN },
  );
  const { lead } = await join("b");
  const drained = lead.drainNode("a", true);
  await closing.promise;
  await expect(lead.nodes(), ALREADY).rejects.toMatchObject({ code: LEAD_CLOSING });
  expect(await drained).toMatchObject({ name: "a", lead: true, state: "draining" });
});

test("a drain is answered when the node has applied it, also by a lead that closes meanwhile", async () => {
  const { join, close, rendering } = await startPool();
  const [drains, applies] = [held(), held()];
  await join("c", () => {
    drains.release();
    return applies.promise;
  });
  const { lead } = await join("b");
  let isAnswered = false;
  const drained = lead.drainNode("c", true).finally(() => {
    isAnswered = true;
  });
  await drains.promise;
  expect(rendering()).toEqual(["b"]);
  const closed = close();
  await expect(lead.nodes(), ALREADY).rejects.toMatchObject({ code: LEAD_CLOSING });
  expect(isAnswered).toBe(false);
  applies.release();
  expect(await drained).toMatchObject({ name: "c", lead: false, state: "draining" });
  await closed;
});

test("a node that has not joined yet is drained when it joins, and then it is no other node", async () => {
  const { join } = await startPool();
  const { lead } = await join("a", undefined, { instance: OWN });
  const told: boolean[] = [];
  // Calls on one connection arrive in order: their responses show that the lead has received the earlier calls.
  const absent = lead.drainNode("c", true);
  expect(await lead.nodes()).toHaveLength(1);
  await join("c", async (drained) => void told.push(drained));
  expect(await absent).toMatchObject({ name: "c", state: "draining" });
  expect(told).toEqual([true]);
  const last = lead.drainNode("a", true);
  expect(await lead.nodes()).toHaveLength(2);
  await join("b");
  expect(await last).toMatchObject({ name: "a", lead: true, state: "draining" });
});

test("a drain and its end reach the node in the order of the requests", async () => {
  const { join, rendering } = await startPool();
  const told: boolean[] = [];
  await join("c", async (drained) => void told.push(drained));
  const { lead } = await join("b");
  const answers = await Promise.all([true, true, false].map((drained) => lead.drainNode("c", drained)));
  expect(told).toEqual([true, true, false]);
  expect(answers.at(-1)).toMatchObject({ name: "c", state: "ready" });
  expect(rendering()).toEqual(["b", "c"]);
});

test("a drain fails as unavailable if the node is lost before it has applied it", async () => {
  const { join } = await startPool();
  const drains = held();
  const { socket } = await join("c", () => {
    drains.release();
    return new Promise(() => {});
  });
  const { lead } = await join("b");
  const drained = lead.drainNode("c", true);
  await drains.promise;
  socket.destroy();
  await expect(drained).rejects.toMatchObject({ code: "unavailable" });
});

test("a node that ends and joins another lead gets no renders from it, and cannot be taken back", async () => {
  const { join, rendering } = await startPool();
  await join("c", undefined, { isDraining: true, isLeaving: true });
  const { lead } = await join("b");
  expect(await lead.drainNode("c", false)).toBe("leaving");
  expect((await lead.nodes()).map(({ name, state }) => `${name} ${state}`)).toEqual(["b ready", "c draining"]);
  expect(rendering()).toEqual(["b"]);
});

test("a node with another version of the messages is refused, and the lead logs that once however often it asks", async () => {
  const { ask, join, warnings } = await startPool();
  await join("b");
  const newer = { version: LINK_VERSION + 1, program: "99.0.0" };
  const { welcome } = await ask("c", undefined, newer);
  expect(welcome).toMatchObject({
    kind: "refused",
    reason: expect.stringContaining("install Nuthatch 99.0.0 for them"),
  });
  await ask("c", undefined, newer);
  expect(warnings).toEqual([{ ...welcome, kind: undefined, node: "c", sentence: "a node cannot join the cluster" }]);
  await join("c", undefined, { program: "99.0.0" });
});

/** A change waits for the leases of the previous lead, which this lead does not know. */
const SHORT_LEASE_MS = 1_000;

describe("nodes that answer HTTP", () =>
  servingProcessesConformance(async () => {
    const { pool, configuration, join } = await startPool(SHORT_LEASE_MS);
    const origins: string[] = [];
    for (const name of ["b", "c"]) {
      const { serving, origin } = await startServing(configuration);
      const applied = async () => undefined;
      const served = { ...localMethods(() => serving, SERVING_PROCESS), applied };
      const { lead, socket } = await join(name, undefined, {}, served);
      const beats = setInterval(() => void lead.beat(), SHORT_LEASE_MS / 10);
      socket.once("close", () => clearInterval(beats));
      origins.push(origin);
    }
    return { processes: pool, origins, configuration };
  }));

test("a lead that has lost its lease grants no lease, and no node joins it", async () => {
  const lease = { isValid: true, leftMs: LONG_MS };
  const { ask, join } = await startPool(LONG_MS, lease);
  const { lead } = await join("b");
  expect(await lead.beat()).toBe(LONG_MS);
  lease.isValid = false;
  expect(await lead.beat()).toBe(0);
  expect((await ask("c")).welcome).toMatchObject({ kind: "not_now", reason: "the lead has lost its lease" });
});
