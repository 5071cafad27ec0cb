import { type Accounts, NO_ACCOUNTS } from "../../account/account-service.ts";
import { type StoreTierView, sumOfTiers } from "../../cache/disk-tier-view.ts";
import type { MaskRenewal } from "../../cache/masks.ts";
import { addTileCounts, type TileCounts } from "../../cache/tile-cache.ts";
import type { Configuration } from "../../configuration/configuration.ts";
import { type LayerUpdate, withLayer } from "../../configuration/in-force/layer-update.ts";
import { OPERATION_SENDINGS } from "../../coordinator/operations.ts";
import type { ServerEvent } from "../../coordinator/server-event.ts";
import type { TileIndex } from "../../grid/grid-set.ts";
import type { ServingMetrics } from "../../http/metrics/metrics-sample.ts";
import { type Readiness, STARTING } from "../../http/readiness.ts";
import { addTileTimes, TileTimes } from "../../http/tiles/tile-times.ts";
import { addTraffic, noTraffic, type TrafficByLayer, type TrafficCounts } from "../../http/tiles/tile-traffic.ts";
import type { LayerName } from "../../layer/tile-set.ts";
import { errorMessage } from "../../lib/error-code.ts";
import { type Channel, localMethods, type Sendings } from "../../lib/process/channel.ts";
import type { Logger } from "../../lib/process/logger.ts";
import type { RenderOutcome } from "../../render/render-order.ts";
import type { RenderedForUser } from "../../render/user-renders.ts";
import type { StoreOptions } from "../../store/store-options.ts";
import {
  type CalledByMembers,
  SERVING_CALLS,
  type ServingCalls,
  type ServingProcesses,
  type ServingState,
  USER_RENDERS,
} from "../process/process-methods.ts";
import { forwardOperations } from "../serving/operations-channel.ts";
import type { Core } from "../serving/serving.ts";

/** The methods of each member. */
export interface MemberMethods extends Omit<ServingProcesses, "listen" | "close"> {
  /** Resolves when all earlier messages have been handled. */
  applied(): void | Promise<void>;
}

export type MemberChannel = Pick<Channel<Record<never, never>, MemberMethods>, "call" | "note">;

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
  readonly #members = new Map<MemberChannel, Ending>();
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
  protected addMember(channel: MemberChannel, end: () => void): void {
    let gone = (): void => {};
    const ended = new Promise<void>((resolve) => {
      gone = resolve;
    });
    this.#members.set(channel, { end, ended, gone });
  }

  protected removeMember(channel: MemberChannel): void {
    this.#members.get(channel)?.gone();
    this.#members.delete(channel);
  }

  get #channels(): Iterable<MemberChannel> {
    return this.#members.keys();
  }

  /** Calls all members. Leaves out members that end during the call: their memory tier and their counts are lost. */
  async #ask<T>(what: string, call: (channel: MemberChannel) => Promise<T>): Promise<readonly T[]> {
    const ask = async (channel: MemberChannel): Promise<readonly T[]> => {
      try {
        return [await call(channel)];
      } catch (error) {
        if (this.#members.has(channel))
          this.#log.error("a process that serves could not answer", { what, error: String(error) });
        return [];
      }
    };
    return (await Promise.all([...this.#channels].map(ask))).flat();
  }

  /**
   * Makes all members apply a change. A running member that fails may serve the old state, so it is ended. Resolves
   * when each member has applied the change or has ended.
   */
  async #apply(change: string, call: (channel: MemberChannel) => Promise<unknown>): Promise<void> {
    const apply = async ([channel, { end, ended }]: readonly [MemberChannel, Ending]): Promise<void> => {
      try {
        await call(channel);
      } catch (error) {
        if (!this.#members.has(channel)) return;
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
    for (const channel of this.#channels) channel.note("publish", [event]);
  }

  setAccounts(accounts: Accounts): void {
    this.#accounts = accounts;
    for (const channel of this.#channels) channel.note("setAccounts", [accounts]);
  }

  async metrics(): Promise<ServingMetrics> {
    const tiles = new Map<string, TileCounts>();
    let times = new TileTimes().view();
    const diskTiers: StoreTierView[] = [];
    const sum = { memory: { tiles: 0, bytes: 0, limitBytes: 0 }, maps: 0, cutOffTiles: 0, listeners: 0 };
    for (const one of await this.#ask("metrics", (channel) => channel.call("metrics"))) {
      addTileCounts(tiles, one.tiles);
      times = addTileTimes(times, one.times);
      sum.memory.tiles += one.memory.tiles;
      sum.memory.bytes += one.memory.bytes;
      sum.memory.limitBytes += one.memory.limitBytes;
      diskTiers.push(...one.diskTiers);
      sum.maps += one.maps;
      sum.cutOffTiles += one.cutOffTiles;
      sum.listeners += one.listeners;
    }
    return { ...sum, tiles, times, diskTiers: sumOfTiers(diskTiers), failedChanges: this.#faults };
  }

  async collectTraffic(): Promise<TrafficByLayer> {
    const sums = new Map<string, TrafficCounts>();
    for (const one of await this.#ask("traffic", (channel) => channel.call("collectTraffic")))
      for (const [layer, counts] of one) {
        const sum = sums.get(layer) ?? noTraffic();
        addTraffic(sum, counts);
        sums.set(layer, sum);
      }
    return sums;
  }

  async storesFault(stores: readonly StoreOptions[], mark: string): Promise<string | undefined> {
    const ask = async (channel: MemberChannel): Promise<string | undefined> => {
      try {
        return await channel.call("storesFault", stores, mark);
      } catch (error) {
        // A member that has ended checks the stores when it starts again.
        return this.#members.has(channel)
          ? `a serving process cannot check the stores: ${errorMessage(error)}`
          : undefined;
      }
    };
    return (await Promise.all([...this.#channels].map(ask))).find((fault) => fault !== undefined);
  }

  clear(layer: LayerName): void {
    for (const channel of this.#channels) channel.note("clear", [layer]);
  }

  remove(keys: readonly string[]): void {
    for (const channel of this.#channels) channel.note("remove", [keys]);
  }

  expireBefore(layer: LayerName, beforeMs: number): void {
    this.#expiredBefore.set(layer, beforeMs);
    for (const channel of this.#channels) channel.note("expireBefore", [layer, beforeMs]);
  }

  /** Waits until all members have applied the earlier changes, so that an answer is true for all of them. */
  protected async applied(): Promise<void> {
    await this.#apply("applied", (channel) => channel.call("applied"));
  }

  async configure(configuration: Configuration): Promise<void> {
    this.#configuration = configuration;
    await this.#apply("configure", (channel) => channel.call("configure", configuration));
  }

  async configureLayer(update: LayerUpdate): Promise<void> {
    this.#configuration = withLayer(this.#configuration, update);
    await this.#apply("configureLayer", (channel) => channel.call("configureLayer", update));
  }

  async renewMasks(renewal: MaskRenewal): Promise<void> {
    await this.#apply("renewMasks", (channel) => channel.call("renewMasks", renewal));
  }

  async ready(readiness: Readiness): Promise<void> {
    this.#readiness = readiness;
    await this.#apply("ready", (channel) => channel.call("ready", readiness));
  }
}

/** How the channel sends each call of a member. */
export const CALLS_OF_MEMBERS: Sendings<CalledByMembers> = {
  ...OPERATION_SENDINGS,
  ...USER_RENDERS,
  ...SERVING_CALLS,
};

/**
 * Returns the methods of the server that members call.
 * @param applied awaited before each answer of an operation
 */
export function methodsForMembers(core: Core, applied: () => Promise<void>): CalledByMembers {
  return {
    ...forwardOperations(core.operations, { applied }),
    ...localMethods(() => core.renders, USER_RENDERS),
    ...localMethods<ServingCalls>(() => core, SERVING_CALLS),
    renderForUser: async (order, missed, client, gone) =>
      only(await core.renders.renderForUser(order, missed, client, gone), missed),
  };
}

/** Removes all tiles except the requested one from a render. Processes do not exchange other tiles. */
const only = (rendered: RenderOutcome<RenderedForUser>, { x, y }: TileIndex): RenderOutcome<RenderedForUser> =>
  rendered.kind === "rendered"
    ? { ...rendered, tiles: rendered.tiles.filter((t) => t.x === x && t.y === y) }
    : rendered;
