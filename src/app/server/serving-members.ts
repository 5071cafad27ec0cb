import { type Accounts, NO_ACCOUNTS } from "../../account/account-service.ts";
import type { MaskRenewal } from "../../cache/masks.ts";
import { type StoreTierView, sumOfTiers } from "../../cache/tiers/disk-tier-view.ts";
import { addTileCounts, type TileCounts } from "../../cache/tile-cache.ts";
import type { Configuration } from "../../configuration/configuration.ts";
import { type LayerUpdate, withLayer } from "../../configuration/in-force/layer-update.ts";
import type { ServerEvent } from "../../coordinator/server-event.ts";
import type { TileIndex } from "../../grid/grid-set.ts";
import type { ServingMetrics } from "../../http/metrics/metrics-sample.ts";
import { type Readiness, STARTING } from "../../http/readiness.ts";
import { addTileTimes, TileTimes } from "../../http/tiles/tile-times.ts";
import { addTraffic, noTraffic, type TrafficByLayer, type TrafficCounts } from "../../http/tiles/tile-traffic.ts";
import type { LayerName } from "../../layer/tile-set.ts";
import { errorMessage } from "../../lib/error-code.ts";
import type { Logger } from "../../lib/process/logger.ts";
import { localMethods } from "../../lib/process/method-table.ts";
import type { RenderOutcome } from "../../render/render-order.ts";
import type { RenderedForUser } from "../../render/user-renders.ts";
import type { StoreOptions } from "../../store/store-options.ts";
import {
  CALLED_BY_MEMBERS,
  type CalledByMembers,
  type MemberMethods,
  type ServingState,
} from "../process/process-methods.ts";
import { forwardOperations } from "../serving/forward-operations.ts";

/** How to end a member. */
interface Ending {
  readonly end: () => void;
  /** Resolves when the member has ended. */
  readonly ended: Promise<void>;
  readonly gone: () => void;
}

/**
 * The serving processes of this machine or of other machines, each behind a channel. The subclasses start HTTP workers
 * or accept nodes.
 */
export class ServingMembers {
  readonly #members = new Map<MemberMethods, Ending>();
  readonly #log: Logger;
  /** How often a member has failed to apply a change. */
  #faults = 0;
  readonly #expiredBefore = new Map<LayerName, number>();
  #configuration: Configuration;
  #readiness: Readiness = STARTING;
  #accounts: Accounts = NO_ACCOUNTS;

  constructor(configuration: Configuration, log: Logger) {
    this.#configuration = configuration;
    this.#log = log;
  }

  protected get state(): ServingState {
    return {
      configuration: this.#configuration,
      readiness: this.#readiness,
      accounts: this.#accounts,
      expiredBefore: this.#expiredBefore,
    };
  }

  /** Adds a member that has `state`. `end` ends the member. Its replacement gets the `state` of that time. */
  protected addMember(member: MemberMethods, end: () => void): void {
    let gone = (): void => {};
    const ended = new Promise<void>((resolve) => {
      gone = resolve;
    });
    this.#members.set(member, { end, ended, gone });
  }

  protected removeMember(member: MemberMethods): void {
    this.#members.get(member)?.gone();
    this.#members.delete(member);
  }

  get #running(): Iterable<MemberMethods> {
    return this.#members.keys();
  }

  /** Calls all members. Leaves out members that end during the call: their memory tier and their counts are lost. */
  async #ask<T>(what: string, call: (member: MemberMethods) => Promise<T>): Promise<readonly T[]> {
    const ask = async (member: MemberMethods): Promise<readonly T[]> => {
      try {
        return [await call(member)];
      } catch (error) {
        if (this.#members.has(member))
          this.#log.error("a process that serves could not answer", { what, error: String(error) });
        return [];
      }
    };
    return (await Promise.all([...this.#running].map(ask))).flat();
  }

  /**
   * Makes all members apply a change. A running member that fails may serve the old state, so it is ended. Resolves
   * when each member has applied the change or has ended.
   */
  async #apply(change: string, call: (member: MemberMethods) => Promise<unknown>): Promise<void> {
    const apply = async ([member, { end, ended }]: readonly [MemberMethods, Ending]): Promise<void> => {
      try {
        await call(member);
      } catch (error) {
        if (!this.#members.has(member)) return;
        this.#faults++;
        this.#log.error("a process that serves has failed to apply a change and is ended", {
          change,
          error: String(error),
        });
        end();
        await ended;
      }
    };
    await Promise.all([...this.#members].map(apply));
  }

  publish(event: ServerEvent): void {
    for (const member of this.#running) member.publish(event);
  }

  setAccounts(accounts: Accounts): void {
    this.#accounts = accounts;
    for (const member of this.#running) member.setAccounts(accounts);
  }

  async metrics(): Promise<ServingMetrics> {
    const tiles = new Map<string, TileCounts>();
    let times = new TileTimes().view();
    const diskTiers: StoreTierView[] = [];
    const failedRenewals = new Map<string, number>();
    const sum = { memory: { tiles: 0, bytes: 0, limitBytes: 0 }, maps: 0, cutOffTiles: 0, listeners: 0 };
    for (const one of await this.#ask("metrics", (member) => member.metrics())) {
      addTileCounts(tiles, one.tiles);
      times = addTileTimes(times, one.times);
      sum.memory.tiles += one.memory.tiles;
      sum.memory.bytes += one.memory.bytes;
      sum.memory.limitBytes += one.memory.limitBytes;
      diskTiers.push(...one.diskTiers);
      for (const [store, failures] of one.failedRenewals)
        failedRenewals.set(store, failures + (failedRenewals.get(store) ?? 0));
      sum.maps += one.maps;
      sum.cutOffTiles += one.cutOffTiles;
      sum.listeners += one.listeners;
    }
    return { ...sum, tiles, times, diskTiers: sumOfTiers(diskTiers), failedRenewals, failedChanges: this.#faults };
  }

  async collectTraffic(): Promise<TrafficByLayer> {
    const sums = new Map<string, TrafficCounts>();
    for (const one of await this.#ask("traffic", (member) => member.collectTraffic()))
      for (const [layer, counts] of one) {
        const sum = sums.get(layer) ?? noTraffic();
        addTraffic(sum, counts);
        sums.set(layer, sum);
      }
    return sums;
  }

  async storesFault(stores: readonly StoreOptions[], mark: string): Promise<string | undefined> {
    const ask = async (member: MemberMethods): Promise<string | undefined> => {
      try {
        return await member.storesFault(stores, mark);
      } catch (error) {
        // A member that has ended checks the stores when it starts again.
        return this.#members.has(member)
          ? `a serving process cannot check the stores: ${errorMessage(error)}`
          : undefined;
      }
    };
    return (await Promise.all([...this.#running].map(ask))).find((fault) => fault !== undefined);
  }

  clear(layer: LayerName): void {
    for (const member of this.#running) member.clear(layer);
  }

  remove(keys: readonly string[]): void {
    for (const member of this.#running) member.remove(keys);
  }

  expireBefore(layer: LayerName, beforeMs: number): void {
    this.#expiredBefore.set(layer, beforeMs);
    for (const member of this.#running) member.expireBefore(layer, beforeMs);
  }

  /** Waits until all members have applied the earlier changes, so that an answer is true for all of them. */
  protected async applied(): Promise<void> {
    await this.#apply("applied", (member) => member.applied());
  }

  async configure(configuration: Configuration): Promise<void> {
    this.#configuration = configuration;
    await this.#apply("configure", (member) => member.configure(configuration));
  }

  async configureLayer(update: LayerUpdate): Promise<void> {
    this.#configuration = withLayer(this.#configuration, update);
    await this.#apply("configureLayer", (member) => member.configureLayer(update));
  }

  async renewMasks(renewal: MaskRenewal): Promise<void> {
    await this.#apply("renewMasks", (member) => member.renewMasks(renewal));
  }

  async ready(readiness: Readiness): Promise<void> {
    this.#readiness = readiness;
    await this.#apply("ready", (member) => member.ready(readiness));
  }
}

/**
 * Returns the methods of the server that members call.
 * @param applied awaited before each answer of an operation
 */
export const methodsForMembers = (core: CalledByMembers, applied: () => Promise<void>): CalledByMembers => ({
  ...localMethods(() => core, CALLED_BY_MEMBERS),
  ...forwardOperations(core, { applied }),
  renderForUser: async (order, missed, client, gone) =>
    only(await core.renderForUser(order, missed, client, gone), missed),
});

/** Removes all tiles except the requested one from a render. Processes do not exchange other tiles. */
const only = (rendered: RenderOutcome<RenderedForUser>, { x, y }: TileIndex): RenderOutcome<RenderedForUser> =>
  rendered.kind === "rendered"
    ? { ...rendered, tiles: rendered.tiles.filter((t) => t.x === x && t.y === y) }
    : rendered;
