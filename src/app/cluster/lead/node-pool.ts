import { EventEmitter, once } from "node:events";
import type { Server, Socket } from "node:net";
import type { Accounts } from "../../../account/account-service.ts";
import type { MaskRenewal } from "../../../cache/masks.ts";
import type { ClusterOptions } from "../../../configuration/cluster-options.ts";
import type { Configuration } from "../../../configuration/configuration.ts";
import type { LayerUpdate } from "../../../configuration/in-force/layer-update.ts";
import type { DrainOutcome, NodeView } from "../../../http/api/nodes/node-documents.ts";
import type { LeadView } from "../../../http/api/nodes/node-view.ts";
import type { Readiness } from "../../../http/readiness.ts";
import type { LayerName } from "../../../layer/tile-set.ts";
import { codeOf, errorMessage } from "../../../lib/error-code.ts";
import { aroundMethods, Channel, MALFORMED, UNKNOWN_METHOD } from "../../../lib/process/channel.ts";
import { listenOn } from "../../../lib/process/listen-on.ts";
import type { Logger } from "../../../lib/process/logger.ts";
import type { Random } from "../../../lib/random/random.ts";
import { atMost } from "../../../lib/time/at-most.ts";
import type { Clock, Timer } from "../../../lib/time/clock.ts";
import { deadline } from "../../../lib/time/deadline.ts";
import { waitOut } from "../../../lib/time/wait-out.ts";
import type { StoreOptions } from "../../../store/store-options.ts";
import type { ServingProcesses } from "../../process/process-methods.ts";
import type { RendererHosts } from "../../server/renderers/renderer-pool.ts";
import { CALLS_OF_MEMBERS, methodsForMembers, ServingMembers } from "../../server/serving-members.ts";
import type { Core } from "../../serving/serving.ts";
import { withMarks } from "../../serving/store-faults.ts";
import { acceptNodes } from "../link/connections.ts";
import { FramedPort } from "../link/framed-port.ts";
import { GrantedLeases, type Lease } from "../link/lease.ts";
import { isNodeHello, type NodeHello, sharedConfiguration, type Welcome } from "../link/node-methods.ts";
import { storeChanges } from "../link/store-changes.ts";
import { StoreNames } from "../link/store-names.ts";
import { CallsInProgress } from "./calls-in-progress.ts";
import { CheckedStores } from "./checked-stores.ts";
import { drainMember } from "./drain-member.ts";
import { KnownNodes, type KnownNodesParts } from "./known-nodes.ts";
import { byName, type Member, type NodeChannel, newMember, nodeView, nodeViews, type ViewParts } from "./member.ts";
import { type NotAdmitted, near, whyNotAdmitted } from "./node-admission.ts";
import { NodeRenderers } from "./node-renderers.ts";

export interface NodePoolParts {
  readonly configuration: Configuration;
  readonly cluster: ClusterOptions;
  readonly clock: Clock;
  readonly random: Random;
  readonly instance: string;
  readonly epoch: number;
  /** The lease of this lead. The lead grants leases to nodes only while it is valid. */
  readonly lease: Pick<Lease, "isValid" | "leftMs">;
  readonly table: KnownNodesParts["table"];
  readonly core: Core;
  /** The machines that run renderers. */
  readonly hosts: RendererHosts;
  readonly log: Logger;
}

/** How often in the time of a lease the pool checks for ended leases. */
const LOOKS_PER_LEASE = 10;

/**
 * The nodes of a cluster, as the lead calls them. All nodes answer HTTP and render; only the lead accounts and manages.
 */
export class NodePool extends ServingMembers implements ServingProcesses {
  readonly #parts: NodePoolParts;
  readonly #leases: GrantedLeases;
  readonly #members = new Set<Member>();
  /** Emits `joined` for each node that joins. */
  readonly #joins = new EventEmitter();
  readonly #sockets = new Set<Socket>();
  readonly #calls: CallsInProgress;
  readonly #methods: ReturnType<typeof methodsForMembers>;
  readonly #server: Server;
  readonly #names: StoreNames;
  readonly #known: KnownNodes;
  readonly #timer: Timer;
  readonly #sinceMs: number;
  /** Fires when the leases of the previous lead have ended. */
  #absentTimer: Timer | undefined;
  /** Whether connections end because this lead is closing. */
  #isClosing = false;
  /** The number of nodes whose connection ended unannounced. */
  #lost = 0;
  /** The name of the node that was refused last, and the reason. */
  #lastRefused = "";
  /** Why no node can join. Undefined if nodes can join. */
  #closedTo: string | undefined = "the lead is starting";

  constructor(parts: NodePoolParts) {
    const { configuration, cluster, clock, core } = parts;
    super(sharedConfiguration(configuration, configuration.stores), parts.log);
    this.#parts = parts;
    this.#sinceMs = clock.now();
    this.#calls = new CallsInProgress(clock);
    this.#leases = new GrantedLeases(cluster.nodeLeaseMs, clock.monotonicNow);
    const methods = methodsForMembers(core, () => this.#allApplied());
    this.#methods = aroundMethods(
      {
        ...methods,
        changeObject: async (change, by) => {
          const changed = await core.changeObject(change, by);
          // A store that the change has made has its names by now.
          await this.#allApplied();
          return changed;
        },
        nodes: () => this.#nodes(),
        lead: async () => this.#lead(),
        drainNode: (name, drained) => this.#drain(name, drained),
        removeNode: (name) => this.#known.remove(name),
      },
      CALLS_OF_MEMBERS,
      (method) => this.#calls.counted(method),
    );
    this.#names = new StoreNames(configuration);
    this.#known = new KnownNodes(parts);
    this.#server = acceptNodes(cluster.secret, (socket) => this.#accept(socket));
    this.#timer = clock.every(cluster.nodeLeaseMs / LOOKS_PER_LEASE, () => this.#endOverdue());
    this.#timer.unref();
  }

  #accept(socket: Socket): void {
    const { lease, log } = this.#parts;
    this.#sockets.add(socket);
    let member: Member | undefined;
    let hasLeft = false;
    const checked = new CheckedStores();
    const whyNot = (hello: NodeHello): NotAdmitted | undefined => {
      if (this.#closedTo !== undefined || member !== undefined)
        return { kind: "not_now", reason: this.#closedTo ?? "the node has already joined" };
      if (!lease.isValid) return { kind: "not_now", reason: "the lead has lost its lease" };
      if (socket.destroyed) return { kind: "not_now", reason: "the connection has ended" };
      const joined = [...this.#members].map((one) => one.hello);
      return whyNotAdmitted(hello, joined, this.#parts.configuration);
    };
    const join = async (hello: NodeHello): Promise<Welcome> => {
      if (!isNodeHello(hello)) {
        const reason = "the request to join does not describe a node";
        socket.destroy(new Error(reason));
        return { kind: "refused", reason };
      }
      for (;;) {
        const refusal = whyNot(hello);
        if (refusal !== undefined) {
          this.#refused(hello, refusal);
          return refusal;
        }
        const missing = this.#isOwn(hello) ? [] : checked.missing(this.#made);
        if (missing.length === 0) return welcome(hello);
        const asked = withMarks(missing, (mark) => channel.call("storesFault", missing, mark));
        // If the lead cannot write the mark, it cannot check the node. Its own readiness reports the fault, and the
        // node may serve.
        const fault = await asked.catch((error: unknown) => {
          log.warn("the directories of stores were not compared with a joining node", {
            node: hello.name,
            error: errorMessage(error),
          });
          return undefined;
        });
        if (fault !== undefined) return { kind: "not_now", reason: fault };
        // Requests may have made further stores during the check: check again.
        checked.add(missing);
      }
    };
    const welcome = (hello: NodeHello): Welcome => {
      const ofFile = this.#parts.configuration.stores;
      const renderers = new NodeRenderers(hello, channel, (stores) => storeChanges(stores, ofFile));
      member = newMember({ hello, channel, socket, renderers, checked }, this.#parts.clock);
      this.#begin(member);
      return { kind: "joined", instance: this.#parts.instance, leadLeaseMs: lease.leftMs };
    };
    const beat = (): number => {
      if (member === undefined || hasLeft || !lease.isValid) return 0;
      member.lastHeardMs = this.#parts.clock.monotonicNow();
      this.#leases.grant(member.hello.instance);
      return lease.leftMs;
    };
    const retire = async (): Promise<void> => {
      if (member === undefined) return;
      member.isLeaving = true;
      await this.#parts.hosts.remove(member.renderers);
    };
    const leave = (): void => {
      // A beat in progress must not grant the lease again, because every change would wait for the end of that lease.
      hasLeft = true;
      if (member !== undefined) this.#leases.returned(member.hello.instance);
      socket.end();
    };
    const port = new FramedPort(socket);
    const channel: NodeChannel = new Channel(
      port,
      {
        ...this.#methods,
        renderForUser: (order, missed, client, gone) =>
          this.#methods.renderForUser(near(order, member?.hello.name), missed, client, gone),
        join,
        beat,
        retire,
        leave,
        fromRenderer: (id, message) => member?.renderers.fromRenderer(id, message),
        rendererEnded: (id, end) => member?.renderers.rendererEnded(id, end),
      },
      (method, error) => {
        log.error("a node's report failed", { node: member?.hello.name, method, error: String(error) });
        // The node uses another version of the messages than it has claimed, so all its messages may be misread.
        if ([UNKNOWN_METHOD, MALFORMED].includes(codeOf(error))) socket.destroy();
      },
    );
    socket.once("error", (error) =>
      log.warn("the connection of a node has failed", { node: member?.hello.name, error: error.message }),
    );
    socket.once("close", () => {
      this.#sockets.delete(socket);
      const gone = Object.assign(new Error("the node has gone"), { code: "unavailable" });
      if (member !== undefined) {
        this.#members.delete(member);
        this.removeMember(channel);
        void this.#parts.hosts.remove(member.renderers);
        member.renderers.lost(this.#leases.leftMs(member.hello.instance));
        this.#leases.depart(member.hello.instance);
        if (!hasLeft) this.#lost++;
        const hasSaidSo = hasLeft || member.isLeaving || member.isDraining;
        if (hasSaidSo) this.#known.left(member.hello);
        else if (!this.#isClosing) this.#known.lost(knownNode(member.hello));
        log.info("a node has left", { node: member.hello.name });
      }
      channel.close(gone);
    });
  }

  /** Logs why a node cannot join. The node retries several times a second, so each reason is logged once. */
  #refused({ name }: NodeHello, { kind, reason }: NotAdmitted): void {
    if (kind === "not_now" || this.#lastRefused === `${name} ${reason}`) return;
    this.#lastRefused = `${name} ${reason}`;
    this.#parts.log.warn("a node cannot join the cluster", { node: name, reason });
  }

  /** Gives a node the state and its lease in one turn, so that no change can be lost between the two. */
  #begin(member: Member): void {
    const { channel, hello, renderers } = member;
    if (!this.#isOwn(hello)) for (const { id, text } of this.#names.all()) channel.note("names", [id, text]);
    channel.note("begin", [this.state, this.#parts.random.uuid()]);
    this.#members.add(member);
    this.addMember(channel, () => void member.socket.destroy());
    this.#know(member);
    this.#leases.grant(hello.instance);
    // The renderers of the lead's machine are already in the pool.
    if (!this.#isOwn(hello) && !hello.isDraining && hello.renderers > 0) this.#parts.hosts.add(renderers);
    this.#parts.log.info("a node has joined", { node: hello.name });
    this.#joins.emit("joined");
  }

  /**
   * Begins or ends the drain of a node, and returns the row of the node. The caller could not request the row later: a
   * lead that drains the node beside it closes, and the next lead knows the node only after the node has joined it.
   */
  async #drain(name: string, drained: boolean): Promise<DrainOutcome> {
    const { hosts, log } = this.#parts;
    const anotherJoins = () => this.#anotherJoins();
    const found = await drainMember(
      { ...this.#viewParts, hosts, members: this.#members, anotherJoins, log },
      name,
      drained,
    );
    if (typeof found === "string") return found;
    this.#know(found);
    return nodeView(found, this.#viewParts);
  }

  /** Records a connected node. A node that is drained or leaving is not expected to stay. */
  #know({ hello, isDraining, isLeaving }: Member): void {
    if (isDraining || isLeaving) this.#known.left(hello);
    else this.#known.joined(knownNode(hello));
  }

  /** Returns the rows of the connected nodes and of the lost ones. */
  async #nodes(): Promise<readonly NodeView[]> {
    const connected = await nodeViews(this.#members, this.#viewParts);
    const lost = this.#known.views;
    const isLost = new Set(lost.map(({ name }) => name));
    // A node may have left while its row was requested.
    const members = new Set([...this.#members].map(({ hello }) => hello.name));
    const rows = connected.filter(({ name, state }) => !isLost.has(name) && (state !== "lost" || members.has(name)));
    return [...rows, ...lost].sort(byName);
  }

  /** See `DrainParts.anotherJoins`. */
  async #anotherJoins(): Promise<boolean> {
    const absentMs = Math.ceil(this.#leases.absentMs());
    if (absentMs === 0) return false;
    // Rejects only if no node has joined in the time. The caller then decides without that node.
    await once(this.#joins, "joined", { signal: deadline(this.#parts.clock, absentMs) }).catch(() => undefined);
    return true;
  }

  get #viewParts(): ViewParts {
    return {
      clock: this.#parts.clock,
      hosts: this.#parts.hosts,
      leases: this.#leases,
      isOwn: (hello) => this.#isOwn(hello),
    };
  }

  /** Ends the connections of silent nodes, because a stopped process would delay every change. */
  #endOverdue(): void {
    for (const { hello, socket } of this.#members) if (this.#leases.isOver(hello.instance)) socket.destroy();
  }

  /**
   * Records a change. No node may answer with an older state once the change is answered. Before nodes can join there
   * is nothing to record, because the lead only reads the stored state.
   */
  #changed(): void {
    if (this.#closedTo === undefined) this.#leases.changed();
  }

  /** Sends changed names of generations, before the messages that depend on them. */
  #sendNames(): void {
    for (const { id, text } of this.#names.changed())
      for (const { channel, hello } of this.#members) if (!this.#isOwn(hello)) channel.note("names", [id, text]);
  }

  /**
   * Whether this node started the lead. In the data directory of this node the coordinator itself replaces the names.
   */
  #isOwn({ instance }: NodeHello): boolean {
    return instance === this.#parts.instance;
  }

  /** Waits until no node can answer with a state older than the changes so far. */
  async #allApplied(): Promise<void> {
    this.#sendNames();
    await this.applied();
    await this.#unaware();
  }

  async #unaware(): Promise<void> {
    await waitOut(this.#parts.clock, () => this.#leases.unawareMs());
  }

  override async storesFault(stores: readonly StoreOptions[], mark: string): Promise<string | undefined> {
    const asked = [...this.#members];
    const fault = await super.storesFault(stores, mark);
    if (fault === undefined) for (const { checked } of asked) checked.add(stores);
    return fault;
  }

  /** The stores that were made over HTTP. */
  get #made(): readonly StoreOptions[] {
    return this.state.configuration.stores;
  }

  /**
   * Ends the connections of nodes that joined before the new stores were checked with them. They join again and are
   * checked.
   */
  #endUnchecked(): void {
    for (const { hello, checked, socket } of this.#members)
      if (!this.#isOwn(hello) && checked.missing(this.#made).length > 0) socket.destroy();
  }

  override setAccounts(accounts: Accounts): void {
    this.#changed();
    super.setAccounts(accounts);
  }

  override clear(layer: LayerName): void {
    this.#changed();
    this.#sendNames();
    super.clear(layer);
  }

  override expireBefore(layer: LayerName, beforeMs: number): void {
    this.#changed();
    super.expireBefore(layer, beforeMs);
  }

  override async configure(configuration: Configuration): Promise<void> {
    this.#changed();
    this.#names.configure(configuration.stores);
    const applied = super.configure(sharedConfiguration(configuration, this.#parts.configuration.stores));
    this.#endUnchecked();
    await applied;
    await this.#unaware();
  }

  override async configureLayer(update: LayerUpdate): Promise<void> {
    this.#changed();
    await super.configureLayer(update);
    await this.#unaware();
  }

  override async renewMasks(renewal: MaskRenewal): Promise<void> {
    this.#changed();
    await super.renewMasks(renewal);
    await this.#unaware();
  }

  /**
   * No node joins before stored tiles can be served. Until then, a node with a lease of the previous lead keeps
   * serving.
   */
  override ready(readiness: Readiness): Promise<void> {
    if (readiness.ready || readiness.isStarting !== true) this.#openToNodes();
    else if (this.#closedTo !== undefined) this.#closedTo = readiness.reason;
    this.#sendNames();
    return super.ready(readiness);
  }

  #openToNodes(): void {
    this.#closedTo = undefined;
    if (this.#isClosing || this.#absentTimer !== undefined) return;
    this.#absentTimer = this.#parts.clock.after(
      this.#parts.cluster.nodeLeaseMs,
      () => void this.#known.absentAreLost(this.#sinceMs),
    );
    this.#absentTimer.unref();
  }

  #lead(): LeadView {
    const { cluster, epoch, lease } = this.#parts;
    const { leftMs: leaseMs } = lease;
    const known = { node: cluster.node, epoch, sinceMs: this.#sinceMs, lostNodes: this.#lost };
    return { ...known, leaseMs, renewedMs: cluster.leadLeaseMs - leaseMs };
  }

  /** Listens for nodes. @throws Error if the address is not available, or the database does not answer */
  async listen(host: string, port: number): Promise<{ readonly port: number }> {
    await this.#known.load();
    return listenOn(this.#server, host, port);
  }

  /** Finishes the calls in progress within the time, and ends the connections. The nodes wait for the next lead. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    this.#closedTo = "the lead is closing";
    this.#calls.refuse();
    // A node that does not answer loses its connection below, and its calls fail.
    await Promise.all([...this.#members].map(({ channel }) => channel.call("closing").catch(() => undefined)));
    await this.#calls.ended(graceMs);
    // Waits for the jobs' renders in progress on nodes.
    await atMost(
      this.#parts.clock,
      graceMs,
      Promise.all([...this.#members].map((one) => this.#parts.hosts.remove(one.renderers))),
    );
    this.#timer.cancel();
    this.#absentTimer?.cancel();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroySoon();
    await closed;
    await this.#known.close();
  }
}

const knownNode = ({ name, instance, program }: NodeHello) => ({ name, instance, version: program });
