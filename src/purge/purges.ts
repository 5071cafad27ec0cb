import { asTileIndex, asTileRect, type GridSetName, type TileRect } from "../grid/grid-set.ts";
import { areaTag, cellTag, layerTag, mapTag } from "../layer/cache-tags.ts";
import { type Catalogue, composesMaps, partsOf } from "../layer/catalogue.ts";
import { type CellIndex, cellCount, cellIndexOf, cellKey, cellsIn } from "../layer/cells.ts";
import { findSubset, type Layer } from "../layer/layer.ts";
import type { FormatName, LayerName, TileSet } from "../layer/tile-set.ts";
import type { ServiceParts } from "../ledger/service-parts.ts";
import { onceEach } from "../lib/once-each.ts";
import { type BackOff, jittered, pauseAfter } from "../lib/time/back-off.ts";
import { pause } from "../lib/time/sleep.ts";
import { LastRead } from "../state/state-wait.ts";
import type { PurgeView } from "./purge-documents.ts";
import type { Purge, PurgeOutbox } from "./purge-outbox.ts";
import type { PurgePost } from "./purge-post.ts";
import {
  intervalMs,
  isPathService,
  longestIntervalMs,
  mostKeys,
  type PathService,
  type PurgeMode,
  type PurgeService,
  requestsOf,
} from "./purge-service.ts";
import { servedText, wereLost } from "./served-layer.ts";
import { countPaths, type PathTiles, pathsOf, wildcardsOf } from "./tile-paths.ts";

interface PurgesParts extends Pick<ServiceParts, "db" | "clock" | "random" | "log"> {
  readonly state: Pick<ServiceParts["state"], "fault">;
  readonly outbox: PurgeOutbox;
  readonly services: () => readonly PurgeService[];
  readonly catalogue: () => Catalogue;
  readonly post: PurgePost;
  /** Returns whether a truncation of a layer is not complete, so that old tiles may still be served. */
  readonly isIncomplete: (layer: LayerName) => boolean;
}

/** The pauses after failed requests. Short enough that a service which is back is told of all changes soon. */
const BACK_OFF: BackOff = { firstMs: 1_000, longestMs: 60_000 };
const GIVEN_UP_MS = 86_400_000;
/** The purges that are read for one request. */
const READ_AT_ONCE = 200;
/**
 * Two requests are a twentieth further apart than the rate demands. Otherwise network delays could bring them so close
 * together that the service counts one too many.
 */
const SPACING = 1.05;
/** The pause after a fault of the state database. */
const STATE_PAUSE_MS = 1_000;
/** The most cells with replaced tiles of one layer that wait for the next transaction. */
const MOST_CELLS = 10_000;
/** The most addresses of one change that are named. */
const MOST_PATHS = 100_000;

/** A cell in which tiles were replaced by other bytes. */
interface ReplacedCell {
  readonly tileSet: TileSet;
  readonly cell: CellIndex;
  /** The smallest rectangle with the replaced tiles. */
  readonly rect: TileRect;
}

/** Tiles that have changed. */
interface ChangedArea {
  readonly gridSet: GridSetName;
  /** Absent: all formats. */
  readonly format?: FormatName;
  readonly rects: readonly TileRect[];
}

/** A change of a layer. */
interface Change {
  readonly layer: LayerName;
  readonly mode: PurgeMode;
  readonly areas: "all" | readonly ChangedArea[];
  readonly tags: () => readonly string[];
}

/** The layers whose tiles are shown by maps of any extent, on their own or as parts of groups. */
const layersOfMaps = onceEach((catalogue: Catalogue): ReadonlySet<LayerName> => {
  const composed = [...catalogue.layers.values()].filter((layer) => composesMaps(catalogue, layer));
  return new Set(composed.flatMap((layer) => [layer, ...partsOf(catalogue, layer)]).map(({ name }) => name));
});

/** The sending to one service. The database has the pending purges. */
class Sending {
  running: Promise<void> | undefined;
  failures = 0;
  lastError: string | null = null;
  /** The earliest time of the next request, ms of the monotonic clock. */
  dueMs: number;

  constructor(dueMs: number) {
    this.dueMs = dueMs;
  }
}

/**
 * Tells the caches downstream which copies are outdated. A purge is written in the transaction of its change, sent at
 * once, and sent again with growing pauses until the service has carried it out or a day has passed. Purges of a service
 * are sent in the order of their changes, at least once, also after a kill.
 */
export class Purges {
  readonly #parts: PurgesParts;
  readonly #sendings = new Map<string, Sending>();
  readonly #replaced = new Map<LayerName, Map<string, ReplacedCell>>();
  /** Layers in which a change is being carried out, with the number of these changes. Their purges wait for the end. */
  readonly #changing = new Map<LayerName, number>();
  readonly #views = new LastRead<readonly PurgeView[]>([]);
  readonly #closing = new AbortController();
  readonly #startedMs: number;

  constructor(parts: PurgesParts) {
    this.#parts = parts;
    this.#startedMs = parts.clock.monotonicNow();
  }

  /** Whether a service is configured. */
  get isOn(): boolean {
    return this.#parts.services().length > 0;
  }

  /** Records that copies of all tiles of a layer are outdated. Runs inside the transaction of the change. */
  layerChanged(layer: LayerName, mode: PurgeMode): void {
    this.#add({ layer, mode, areas: "all", tags: () => [layerTag(layer)] });
  }

  /**
   * Records that copies of the tiles in some rectangles are outdated, in all formats and parameters. Runs inside a
   * transaction.
   */
  areaChanged(layer: LayerName, areas: readonly Pick<ChangedArea, "gridSet" | "rects">[], mode: PurgeMode): void {
    const most = Math.max(0, ...this.#parts.services().map(mostKeys));
    const cells = areas.flatMap(({ rects }) => rects.map(cellCount)).reduce((sum, count) => sum + count, 0);
    if (cells === 0) return;
    const tags = (): readonly string[] => [
      ...areas.flatMap(({ gridSet, rects }) =>
        rects.flatMap((rect) => [...cellsIn(rect)].map((cell) => areaTag(layer, gridSet, cell))),
      ),
      ...this.#mapTags(layer),
    ];
    this.#add({ layer, mode, areas, tags: cells > most ? () => [layerTag(layer)] : tags });
  }

  /** Returns the tag of the maps of any extent that show a layer. Empty if there are no such maps. */
  #mapTags(layer: LayerName): readonly string[] {
    return layersOfMaps(this.#parts.catalogue()).has(layer) ? [mapTag(layer)] : [];
  }

  #add({ layer, mode, areas, tags }: Change): void {
    const { outbox, clock } = this.#parts;
    let known: readonly string[] | undefined;
    for (const service of this.#parts.services()) {
      const layerKeys = (): readonly string[] =>
        isPathService(service) ? this.#wildcards(service, layer) : [layerTag(layer)];
      let keys: readonly string[];
      if (isPathService(service)) keys = this.#paths(service, layer, areas);
      else {
        known ??= tags();
        keys = known;
      }
      const limits = { most: mostKeys(service), layerKeys, nowMs: clock.monotonicNow() };
      if (keys.length > 0) outbox.add(service.id, { layer, mode, tags: keys }, limits);
    }
  }

  /** Returns a layer and the groups that show it. Empty if the layer is gone. */
  #showing(layer: LayerName): readonly Layer[] {
    const isShown = ({ name, source }: Layer) =>
      name === layer || (source.type === "group" && source.layers.includes(layer));
    return [...this.#parts.catalogue().layers.values()].filter(isShown);
  }

  #wildcards({ publicUrls }: PathService, layer: LayerName): readonly string[] {
    const showing = this.#showing(layer);
    const named = showing.some(({ name }) => name === layer) ? showing : [{ name: layer }, ...showing];
    return named.flatMap((one) => wildcardsOf(publicUrls, one));
  }

  /** Returns the addresses of changed tiles. Beyond the limits of the service, those that all tiles begin with. */
  #paths(service: PathService, layer: LayerName, areas: Change["areas"]): readonly string[] {
    if (areas === "all") return this.#wildcards(service, layer);
    const tiles = this.#showing(layer).flatMap((showing) =>
      areas.flatMap(({ gridSet, format, rects }): readonly PathTiles[] => {
        const subset = findSubset(showing, gridSet);
        if (subset === undefined) return [];
        // A group has formats of its own.
        const formats = showing.formats.filter(
          ({ mimeType }) => format === undefined || showing.name !== layer || mimeType === format,
        );
        return formats.map((one) => ({ layer: showing, subset, format: one, rects }));
      }),
    );
    const { publicUrls } = service;
    return countPaths(publicUrls, tiles) > MOST_PATHS ? this.#wildcards(service, layer) : pathsOf(publicUrls, tiles);
  }

  /** Notes that tiles in a rectangle, which lies in one cell, were replaced by other bytes. `saveReplaced` records it. */
  replaced(tileSet: TileSet, rect: TileRect): void {
    if (!this.isOn) return;
    const cells = this.#replaced.get(tileSet.layer) ?? new Map<string, ReplacedCell>();
    this.#replaced.set(tileSet.layer, cells);
    if (cells.size > MOST_CELLS) return;
    const cell = cellIndexOf(asTileIndex({ x: rect.minX, y: rect.minY, z: rect.z }));
    const key = cellKey(tileSet, cell);
    const noted = cells.get(key)?.rect;
    cells.set(key, { tileSet, cell, rect: noted === undefined ? rect : joined(noted, rect) });
  }

  /** Records the replaced tiles. Runs inside the transaction that ends the marks of their cells, or earlier. */
  saveReplaced(): void {
    if (this.#replaced.size === 0) return;
    const noted = [...this.#replaced];
    this.#replaced.clear();
    this.#parts.db.onRollback(() => {
      for (const [layer, cells] of noted) {
        const later = this.#replaced.get(layer) ?? [];
        this.#replaced.set(layer, new Map([...cells, ...later]));
      }
    });
    for (const [layer, cells] of noted) {
      const all = [...cells.values()];
      if (all.length > MOST_CELLS) this.layerChanged(layer, "hard");
      else
        this.#add({
          layer,
          mode: "hard",
          areas: all.map(({ tileSet: { gridSet, format }, rect }) => ({ gridSet, format, rects: [rect] })),
          tags: () => [...all.map(({ tileSet, cell }) => cellTag(tileSet, cell)), ...this.#mapTags(layer)],
        });
    }
  }

  /**
   * Carries out a change of a layer. Its purges are sent when it has ended: a cache that asked for a tile earlier could
   * get the old one.
   */
  async during<T>(layer: LayerName, change: () => Promise<T>): Promise<T> {
    this.#changing.set(layer, (this.#changing.get(layer) ?? 0) + 1);
    try {
      return await change();
    } finally {
      const others = (this.#changing.get(layer) ?? 1) - 1;
      if (others > 0) this.#changing.set(layer, others);
      else this.#changing.delete(layer);
      this.tick();
    }
  }

  /**
   * Applies the configuration: removes the purges of services that are gone, and purges the layers that are gone, or
   * that no longer serve some of their copies, since the last configuration or the last server.
   */
  reconfigured(): void {
    const { outbox, services, catalogue, db, state, log } = this.#parts;
    try {
      const isDiscarded = db.transaction(() => {
        const removed = outbox.removeOthers(services().map(({ id }) => id));
        const layers = this.isOn ? [...catalogue().layers.values()] : [];
        const present = new Map(layers.map((layer) => [layer.name, servedText(layer, catalogue())]));
        for (const layer of outbox.replaceLayers(present, wereLost)) this.layerChanged(layer, "hard");
        return removed;
      });
      if (isDiscarded) log.warn("purges for services that are no longer configured were discarded");
    } catch (error) {
      state.fault(error);
    }
    for (const id of this.#sendings.keys())
      if (!services().some((service) => service.id === id)) this.#sendings.delete(id);
  }

  /** Records replaced tiles, and sends what is due. */
  tick(): void {
    if (this.#closing.signal.aborted) return;
    const { db, state, clock, services } = this.#parts;
    try {
      if (this.#replaced.size > 0) db.transaction(() => this.saveReplaced());
    } catch (error) {
      state.fault(error);
    }
    for (const service of services()) {
      const { id } = service;
      // The last request of the previous server may have been sent just before this start.
      const sending = this.#sendings.get(id) ?? new Sending(this.#startedMs + longestIntervalMs(service) * SPACING);
      this.#sendings.set(id, sending);
      if (sending.running !== undefined || clock.monotonicNow() < sending.dueMs) continue;
      sending.running = this.#send(id, sending).finally(() => {
        sending.running = undefined;
      });
    }
  }

  /** Returns the service as configured now. */
  #service(id: string): PurgeService | undefined {
    return this.#parts.services().find((service) => service.id === id);
  }

  /** Sends purges to a service until none is left or a request fails. */
  async #send(id: string, sending: Sending): Promise<void> {
    const { clock, state } = this.#parts;
    const { signal } = this.#closing;
    try {
      for (;;) {
        const service = this.#service(id);
        if (service === undefined || signal.aborted) return;
        const [first, ...others] = this.#parts.outbox
          .oldest(id, READ_AT_ONCE)
          .filter(({ layer }) => !this.#changing.has(layer) && !this.#parts.isIncomplete(layer));
        if (first === undefined) return;
        const { purges, tags } = batchOf(first, others, service.keysPerRequest);
        for (const keys of requestsOf(service, tags)) {
          const waitMs = sending.dueMs - clock.monotonicNow();
          if (waitMs > 0) await pause(clock, waitMs, signal);
          if (signal.aborted) return;
          sending.dueMs = clock.monotonicNow() + intervalMs(service, keys) * SPACING;
          const failure = await this.#parts.post.send(service, keys, first.mode, signal);
          if (signal.aborted && failure !== undefined) return;
          if (failure !== undefined) return this.#failed(id, sending, failure);
        }
        this.#succeeded(id, sending, purges);
      }
    } catch (error) {
      // Nothing is lost: the purges are in the database, and are sent again.
      sending.dueMs = Math.max(sending.dueMs, clock.monotonicNow() + STATE_PAUSE_MS);
      state.fault(error);
    }
  }

  #succeeded(id: string, sending: Sending, purges: readonly Purge[]): void {
    const { db, outbox, log } = this.#parts;
    db.transaction(() =>
      outbox.sent(
        id,
        purges.map(({ number }) => number),
      ),
    );
    if (sending.failures > 0) log.info("purges succeed again", { service: id });
    sending.failures = 0;
    sending.lastError = null;
  }

  #failed(id: string, sending: Sending, reason: string): void {
    const { clock, random, db, outbox, log } = this.#parts;
    if (sending.failures === 0) log.warn("a purge failed and will be sent again", { service: id, reason });
    sending.failures++;
    sending.lastError = reason;
    const pauseMs = jittered(pauseAfter(sending.failures, BACK_OFF), random.fraction());
    sending.dueMs = Math.max(sending.dueMs, clock.monotonicNow() + Math.round(pauseMs));
    const changes = db.transaction(() => outbox.giveUp(id, clock.monotonicNow() - GIVEN_UP_MS));
    if (changes > 0) log.warn("purges were given up after a day", { service: id, changes, reason });
  }

  /** Returns the state of each service, in the order of the configuration. */
  async purges(): Promise<readonly PurgeView[]> {
    return this.metrics();
  }

  metrics(): readonly PurgeView[] {
    const { services, outbox, clock } = this.#parts;
    return this.#views.read(() =>
      services().map(({ id }) => {
        const { changes, firstMs } = outbox.pending(id);
        const lagMs = firstMs === undefined ? 0 : Math.max(0, clock.monotonicNow() - firstMs);
        const lastError = this.#sendings.get(id)?.lastError ?? null;
        return { id, pending: changes, lagSeconds: Math.round(lagMs) / 1000, lastError, ...outbox.counts(id) };
      }),
    );
  }

  /** Ends the requests in flight. Their purges are sent again after the next start. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#sendings.values()].map(({ running }) => running));
    await this.#parts.post[Symbol.asyncDispose]();
  }
}

const joined = (a: TileRect, b: TileRect): TileRect =>
  asTileRect({
    z: a.z,
    minX: Math.min(a.minX, b.minX),
    minY: Math.min(a.minY, b.minY),
    maxX: Math.max(a.maxX, b.maxX),
    maxY: Math.max(a.maxY, b.maxY),
  });

/**
 * Returns the purges that one request carries out: the first, and the following ones of its mode as long as their tags
 * fit. A purge with more tags than fit is carried out alone, by several requests.
 */
function batchOf(
  first: Purge,
  others: readonly Purge[],
  most: number,
): { readonly purges: readonly Purge[]; readonly tags: readonly string[] } {
  const purges = [first];
  const tags = new Set(first.tags);
  for (const purge of others) {
    const added = purge.tags.filter((tag) => !tags.has(tag));
    if (purge.mode !== first.mode || tags.size + added.length > most) break;
    for (const tag of added) tags.add(tag);
    purges.push(purge);
  }
  return { purges, tags: [...tags] };
}
