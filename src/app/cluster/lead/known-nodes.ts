import type { NodeView } from "../../../http/api/nodes/node-documents.ts";
import type { NodeRemoval } from "../../../http/api/nodes/node-view.ts";
import type { Logger } from "../../../lib/process/logger.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import { isoTime } from "../../../lib/time/iso-time.ts";
import { pause } from "../../../lib/time/sleep.ts";
import type { KnownNode, LeadTable } from "../link/lead-table.ts";

/**
 * Limits the record, because each start may use a new node name. Beyond it the nodes that were lost first are removed.
 */
export const MOST_LOST = 1_000;
const WRITE_AGAIN_MS = 1_000;

export interface KnownNodesParts {
  readonly table: Pick<LeadTable, "knownNodes" | "keepNode" | "forgetNode">;
  /** The epoch of the lead. */
  readonly epoch: number;
  /** ms since 1970. */
  readonly clock: Clock;
  readonly log: Logger;
}

type Identity = Omit<KnownNode, "lostMs">;

/** The node is connected to this lead. */
type Here = Identity & { readonly kind: "here" };
/** The node was connected to the previous lead, and has not joined this lead yet. */
type Absent = Identity & { readonly kind: "absent" };
/** The node's connection ended unannounced, or the node has not joined this lead in time. */
type Lost = Identity & { readonly kind: "lost"; readonly lostMs: number };
type Known = Here | Absent | Lost;
type Change = Here | Lost | (Pick<Identity, "name" | "instance"> & { readonly kind: "left" });

/**
 * The nodes that have joined and have not announced their leave. A node that is drained or has received SIGTERM does
 * not count. The record is in the database, so that the next lead can read it; it is written in the background.
 */
export class KnownNodes {
  readonly #parts: KnownNodesParts;
  readonly #known = new Map<string, Known>();
  /** Changes that are not in the database yet, by the name of the node. */
  readonly #unwritten = new Map<string, Change>();
  #settle = (): void => {};
  /** Resolves when no node is absent. */
  readonly #settled = new Promise<void>((resolve) => {
    this.#settle = resolve;
  });
  #writing: Promise<void> | undefined;
  #isClosed = false;

  constructor(parts: KnownNodesParts) {
    this.#parts = parts;
  }

  /** Reads the record of the previous lead. @throws Error if the database does not answer */
  async load(): Promise<void> {
    const read = await this.#parts.table.knownNodes();
    if (!read.ok) throw Object.assign(new Error(read.error.message), { code: "unavailable" });
    for (const { lostMs, ...node } of read.value)
      this.#known.set(node.name, lostMs === null ? { ...node, kind: "absent" } : { ...node, kind: "lost", lostMs });
  }

  /** Records that a node is connected, and expected to stay. */
  joined(node: Identity): void {
    this.#put({ ...identityOf(node), kind: "here" });
  }

  /** Records that the connection of a node has ended unannounced. */
  lost(node: Identity): void {
    const known = this.#known.get(node.name);
    // The node was drained, has left, or has restarted.
    if (known?.kind !== "here" || known.instance !== node.instance) return;
    this.#put({ ...known, kind: "lost", lostMs: this.#parts.clock.now() });
    const lost = this.#lost;
    if (lost.length > MOST_LOST) this.left(lost.reduce((a, b) => (a.lostMs <= b.lostMs ? a : b)));
  }

  /** Removes a node that is drained or has received SIGTERM, unless the node has restarted. */
  left({ name, instance }: Pick<Identity, "name" | "instance">): void {
    if (this.#known.get(name)?.instance !== instance) return;
    this.#known.delete(name);
    this.#write({ kind: "left", name, instance });
  }

  /**
   * Records the previous lead's nodes that have not joined this lead as lost. Called when their leases have ended.
   * @param sinceMs the start of this lead, ms since 1970
   */
  async absentAreLost(sinceMs: number): Promise<void> {
    // A node that ended in order while there was no lead has removed its own row.
    const read = await this.#parts.table.knownNodes();
    const rows = read.ok ? new Map(read.value.map((row) => [row.name, row.instance])) : undefined;
    for (const node of [...this.#known.values()]) {
      if (node.kind !== "absent") continue;
      if (rows === undefined || rows.get(node.name) === node.instance) {
        this.#put({ ...node, kind: "lost", lostMs: sinceMs });
        this.#parts.log.warn("a node is lost", { node: node.name });
      } else this.#known.delete(node.name);
    }
    this.#settle();
  }

  /** Removes a lost node. @throws Error with the code `unavailable` if the database does not answer */
  async remove(name: string): Promise<Exclude<NodeRemoval, "alone">> {
    if (this.#known.get(name)?.kind === "absent") await this.#settled;
    const node = this.#known.get(name);
    if (node === undefined) return "unknown";
    if (node.kind !== "lost") return "present";
    this.left(node);
    const written = await this.#parts.table.forgetNode(node);
    if (!written.ok) throw Object.assign(new Error(written.error.message), { code: "unavailable" });
    return "removed";
  }

  /** The rows of the lost nodes. */
  get views(): readonly NodeView[] {
    return this.#lost.map(({ name, version, lostMs }) => ({
      name,
      lead: false,
      state: "lost",
      since: isoTime(lostMs),
      lag: Math.max(0, this.#parts.clock.now() - lostMs),
      lease: 0,
      version,
      work: { tiles: 0, renders: 0, metatiles: 0 },
    }));
  }

  get #lost(): readonly Lost[] {
    return [...this.#known.values()].filter((node) => node.kind === "lost");
  }

  #put(node: Here | Lost): void {
    this.#known.set(node.name, node);
    this.#write(node);
  }

  #write(change: Change): void {
    this.#unwritten.set(change.name, change);
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
  }

  /** Writes the changes one by one, and retries a failed write. A lead without its database ends with its lease. */
  async #writeAll(): Promise<void> {
    const { table, epoch } = this.#parts;
    for (const change of this.#changes()) {
      const written =
        change.kind === "left"
          ? await table.forgetNode(change)
          : await table.keepNode(epoch, { ...change, lostMs: change.kind === "lost" ? change.lostMs : null });
      if (!written.ok) await pause(this.#parts.clock, WRITE_AGAIN_MS);
      else if (this.#unwritten.get(change.name) === change) this.#unwritten.delete(change.name);
    }
  }

  *#changes(): Generator<Change> {
    for (;;) {
      const [next] = this.#unwritten.values();
      if (next === undefined || this.#isClosed) return;
      yield next;
    }
  }

  /** Stops the writes. The next lead records nodes whose connection ends from now on. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#writing;
  }
}

const identityOf = ({ name, instance, version }: Identity): Identity => ({ name, instance, version });
