import fc from "fast-check";
import { expect, test } from "vitest";
import { GrantedLeases, Lease } from "./lease.ts";

const LENGTH = 1_000;

type Step =
  | { readonly kind: "pass"; readonly ms: number }
  | { readonly kind: "change" | "takeOver" }
  | { readonly kind: "join" | "cut" | "sendBeat" | "hear" | "answer" | "deliver" | "read"; readonly node: number };

const NODES = 3;
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 700 }) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("change" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("takeOver" as const) }) },
  {
    weight: 24,
    arbitrary: fc.record({
      kind: fc.constantFrom("join", "cut", "sendBeat", "hear", "answer", "deliver", "read"),
      node: fc.nat(NODES - 1),
    }),
  },
);

/** A message on a connection. Messages arrive in order; the last ones may be lost. */
type Message = { readonly version: number } | { readonly grantedMs: number };

/** A node with its version of the state and its connection to the lead. */
class SimulatedNode {
  readonly lease: Lease;
  version = 0;
  isConnected = false;
  /** The time at which the beat in progress was sent. */
  beatMs: number | undefined;
  heardMs: number | undefined;
  inbox: Message[] = [];

  constructor(now: () => number) {
    this.lease = new Lease(LENGTH, now);
  }

  disconnect(): void {
    this.isConnected = false;
    this.inbox = [];
    this.beatMs = undefined;
    this.heardMs = undefined;
  }
}

/** A cluster in which messages are late or lost, and leads end at any moment. Time passes only in steps. */
class Simulation {
  nowMs = 0;
  version = 0;
  /** The newest change that has been answered. */
  answered = 0;
  granted: GrantedLeases;
  readonly nodes: SimulatedNode[];
  /** Changes that have not been answered, each with the nodes that have not acknowledged it. */
  #pending: { readonly version: number; readonly waits: Set<SimulatedNode> }[] = [];

  constructor() {
    this.granted = new GrantedLeases(LENGTH, () => this.nowMs);
    this.nodes = Array.from({ length: NODES }, () => new SimulatedNode(() => this.nowMs));
  }

  at(n: number): SimulatedNode {
    return this.nodes[n] ?? expect.fail("there is a node");
  }

  run(one: Step): void {
    switch (one.kind) {
      case "pass":
        this.nowMs += one.ms;
        break;
      case "change":
        this.version++;
        this.granted.changed();
        this.#pending.push({ version: this.version, waits: new Set(this.nodes.filter((node) => node.isConnected)) });
        for (const node of this.nodes) if (node.isConnected) node.inbox.push({ version: this.version });
        break;
      case "takeOver":
        // The state is in the database. Changes that were not answered promise nothing.
        for (const node of this.nodes) node.disconnect();
        this.#pending = [];
        this.granted = new GrantedLeases(LENGTH, () => this.nowMs);
        break;
      default:
        this.#runNode(one.kind, one.node);
    }
    this.#endOverdue();
    this.#answer();
  }

  #runNode(kind: Extract<Step, { node: number }>["kind"], n: number): void {
    const node = this.at(n);
    const instance = String(n);
    switch (kind) {
      case "join":
        if (node.isConnected) return;
        node.isConnected = true;
        this.granted.grant(instance);
        node.inbox.push({ version: this.version }, { grantedMs: this.nowMs });
        return;
      case "cut":
        if (node.isConnected) this.granted.depart(instance);
        node.disconnect();
        return;
      case "sendBeat":
        if (node.isConnected && node.beatMs === undefined) node.beatMs = this.nowMs;
        return;
      case "hear":
        if (node.beatMs === undefined || node.heardMs !== undefined) return;
        this.granted.grant(instance);
        node.heardMs = this.nowMs;
        return;
      case "answer":
        if (node.heardMs === undefined || node.beatMs === undefined) return;
        node.inbox.push({ grantedMs: node.beatMs });
        node.beatMs = undefined;
        node.heardMs = undefined;
        return;
      case "deliver": {
        const message = node.inbox.shift();
        if (message === undefined) return;
        if ("grantedMs" in message) node.lease.granted(message.grantedMs);
        else {
          node.version = message.version;
          for (const { version, waits } of this.#pending) if (version <= message.version) waits.delete(node);
        }
        return;
      }
      case "read":
        if (node.lease.isValid) expect(node.version).toBeGreaterThanOrEqual(this.answered);
    }
  }

  #endOverdue(): void {
    for (const [n, node] of this.nodes.entries())
      if (node.isConnected && this.granted.isOver(String(n))) {
        this.granted.depart(String(n));
        node.disconnect();
      }
  }

  #answer(): void {
    for (const { waits } of this.#pending) for (const node of waits) if (!node.isConnected) waits.delete(node);
    while (this.#pending[0]?.waits.size === 0 && this.granted.unawareMs() === 0)
      this.answered = this.#pending.shift()?.version ?? this.answered;
  }
}

test("no node with a lease reads the state before a change that was answered, whatever is late, lost or taken over", () => {
  let answers = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 200 }), (steps) => {
      const simulation = new Simulation();
      for (const one of steps) simulation.run(one);
      for (const node of simulation.nodes)
        if (node.lease.isValid) expect(node.version).toBeGreaterThanOrEqual(simulation.answered);
      answers += simulation.answered;
    }),
    { numRuns: 3_000 },
  );
  expect(answers).toBeGreaterThan(1_000);
});

test("a change waits for the lease of a node that has gone, and not for one that has returned it", () => {
  let nowMs = 0;
  const leases = new GrantedLeases(LENGTH, () => nowMs);
  nowMs = LENGTH;
  leases.grant("a");
  leases.grant("b");
  leases.changed();
  expect(leases.unawareMs()).toBe(0);
  nowMs += 10;
  leases.grant("a");
  leases.depart("a");
  leases.returned("b");
  // A node either has the grant that followed the change, and so the change, or a lease that an earlier grant began.
  expect(leases.unawareMs()).toBe(LENGTH - 10);
  leases.grant("a");
  expect(leases.unawareMs()).toBe(LENGTH - 10);
  nowMs += LENGTH - 10;
  expect(leases.unawareMs()).toBe(0);
});
