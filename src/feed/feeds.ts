import type { Polygon } from "../grid/area-parts.ts";
import type { Layer } from "../layer/layer.ts";
import type { FeedSource } from "../layer/update-source.ts";
import type { ServiceParts } from "../ledger/service-parts.ts";
import { errorMessage } from "../lib/error-code.ts";
import { Slices } from "../lib/process/slices.ts";
import { refusalMessage } from "../lib/refusal.ts";
import type { Clock, Timer } from "../lib/time/clock.ts";
import type { JobOptions } from "../plan/job/job-options.ts";
import { planUpdate } from "../plan/plan-update.ts";
import type { FeedRecord, FeedStore } from "./feed-store.ts";
import { type FeedEntry, GeoRssReader } from "./georss-reader.ts";
import { submitUpdate, type UpdateJobsParts } from "./update-jobs.ts";

export interface FeedsParts extends UpdateJobsParts, Pick<ServiceParts, "catalogue" | "clock" | "log"> {
  readonly store: FeedStore;
  readonly options: () => JobOptions;
  /** Returns the text of a feed. @throws Error without the address and the credentials in its message */
  readonly fetch: (url: string, source: FeedSource, signal: AbortSignal) => Promise<string>;
}

/** A configured feed of a layer. */
interface Polled {
  readonly layer: Layer;
  readonly source: FeedSource;
}

const LAST_UPDATE = "{lastUpdate}";
/** The longest timer, so that a change of the wall clock delays a poll by at most this time. */
const LONGEST_MS = 60_000;
/** Characters that are parsed before the time slice is checked: about a millisecond of work. */
const PART = 16_384;

/**
 * Polls the feeds of layers, one after the other. The database stores the time of the last poll of each feed, so a
 * restart neither skips nor repeats a poll. The time of the last entry is written in the transaction of the jobs.
 */
export class Feeds {
  readonly #parts: FeedsParts;
  readonly #closing = new AbortController();
  /** The records by layer and address. Undefined until they have been read from the database. */
  #records: Map<string, FeedRecord> | undefined;
  #timer: Timer | undefined;
  #isStarted = false;
  #polling: Promise<void> | undefined;

  constructor(parts: FeedsParts) {
    this.#parts = parts;
  }

  /** Starts the timer of the first poll. */
  start(): void {
    this.#isStarted = true;
    this.#arm();
  }

  /** Polls the feeds of a changed configuration from now on. */
  reconfigured(): void {
    if (this.#isStarted) this.#arm();
  }

  #arm(): void {
    this.#timer?.cancel();
    if (this.#closing.signal.aborted || this.#polling !== undefined) return;
    const feeds = this.#feeds();
    if (feeds.length === 0) return;
    this.#timer = this.#parts.clock.after(this.#waitMs(feeds), () => this.#poll());
  }

  #waitMs(feeds: readonly Polled[]): number {
    const now = this.#parts.clock.now();
    try {
      const next = Math.min(...feeds.map((feed) => this.#dueMs(feed, now)));
      return Math.min(LONGEST_MS, Math.max(0, next - now));
    } catch (error) {
      // The records cannot be read while the database is unavailable.
      this.#parts.log.error("feeds are behind", { error: String(error) });
      return LONGEST_MS;
    }
  }

  #feeds(): readonly Polled[] {
    const { layers } = this.#parts.catalogue();
    return [...layers.values()].flatMap((layer) =>
      (layer.updateSources ?? []).flatMap((source) => (source.type === "georss" ? [{ layer, source }] : [])),
    );
  }

  #poll(): void {
    this.#polling = this.#pollDue()
      .catch((error: unknown) => this.#parts.log.error("feeds are behind", { error: String(error) }))
      .finally(() => {
        this.#polling = undefined;
        this.#arm();
      });
  }

  async #pollDue(): Promise<void> {
    const now = this.#parts.clock.now();
    const due = this.#feeds().filter((feed) => this.#dueMs(feed, now) <= now);
    for (const feed of due) if (!this.#closing.signal.aborted) await this.#pollOne(feed);
    this.#deleteUnconfigured();
  }

  /** Never rejects: a feed that cannot be read is polled again at its next time. */
  async #pollOne({ layer, source }: Polled): Promise<void> {
    const { store, state, log, clock } = this.#parts;
    const before = this.#recordOf({ layer, source });
    const polled = { layer: layer.name, url: source.url, polledMs: clock.now(), lastUpdate: before?.lastUpdate ?? "" };
    const fields = { layer: layer.name, feed: withoutSecrets(source.url) };
    // The time of the last entry follows when the jobs are stored.
    this.#remember(polled);
    try {
      const url = source.url.replaceAll(LAST_UPDATE, encodeURIComponent(polled.lastUpdate));
      const entries = await readFeed(clock, await this.#parts.fetch(url, source, this.#closing.signal));
      const news = newer(entries, polled.lastUpdate);
      const after = { ...polled, lastUpdate: news.lastUpdate };
      const jobIds = await this.#submit({ layer, source }, news.polygons, () => store.put(after));
      this.#remember(after);
      if (news.count > 0) log.info("a feed was read", { ...fields, entries: news.count, jobIds });
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      log.warn("a feed cannot be read", { ...fields, error: errorMessage(error) });
      try {
        state.write(() => store.put(polled));
      } catch {
        // The database is unavailable, which the state writer has reported. The time of the poll stays in memory.
      }
    }
  }

  /** Makes the jobs of an area; `also` writes in their transaction. Returns no ids for an empty area. */
  async #submit({ layer, source }: Polled, polygons: readonly Polygon[], also: () => void): Promise<readonly number[]> {
    const planned = polygons.length === 0 ? undefined : planUpdate(polygons, source, layer, this.#parts.options());
    if (planned?.ok === false) throw new Error(refusalMessage(planned.error));
    const submitted = await submitUpdate(planned?.value ?? [], this.#parts, also);
    if (!submitted.ok) throw new Error(refusalMessage(submitted.error));
    return submitted.value;
  }

  /** Deletes the records of feeds that are no longer configured. */
  #deleteUnconfigured(): void {
    const { store, state } = this.#parts;
    const known = new Set(this.#feeds().map(keyOf));
    const gone = [...this.#recordsByKey()].filter(([key]) => !known.has(key));
    if (gone.length === 0) return;
    try {
      state.write(() => {
        for (const [, record] of gone) store.delete(record);
      });
      for (const [key] of gone) this.#recordsByKey().delete(key);
    } catch {
      // The database is unavailable, which the state writer has reported. The next poll tries again.
    }
  }

  /**
   * Returns when a feed is due, ms since 1970. A last poll in the future, before the clock was set back, counts as now.
   */
  #dueMs(feed: Polled, now: number): number {
    const polledMs = this.#recordOf(feed)?.polledMs;
    return polledMs === undefined ? now : Math.min(polledMs, now) + feed.source.pollSeconds * 1000;
  }

  #recordOf = (feed: Polled): FeedRecord | undefined => this.#recordsByKey().get(keyOf(feed));

  #remember(record: FeedRecord): void {
    this.#recordsByKey().set(recordKey(record), record);
  }

  #recordsByKey(): Map<string, FeedRecord> {
    this.#records ??= new Map(this.#parts.store.all().map((record) => [recordKey(record), record]));
    return this.#records;
  }

  /** Ends the polling. A poll in progress makes all its jobs or none. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("the server is closing"));
    this.#timer?.cancel();
    await this.#polling;
  }
}

const recordKey = ({ layer, url }: Pick<FeedRecord, "layer" | "url">): string => `${layer}\n${url}`;
const keyOf = ({ layer, source }: Polled): string => recordKey({ layer: layer.name, url: source.url });

/** Returns an address without its credentials and its query. */
function withoutSecrets(address: string): string {
  const plain = address.replaceAll(LAST_UPDATE, "");
  if (!URL.canParse(plain)) return "";
  const { origin, pathname } = new URL(plain);
  return `${origin}${pathname}`;
}

/** Parses a feed in slices, because it may have megabytes. */
async function readFeed(clock: Clock, text: string): Promise<readonly FeedEntry[]> {
  const reader = new GeoRssReader();
  const slices = new Slices(clock);
  for (let at = 0; at < text.length; at += PART) {
    reader.write(text.slice(at, at + PART));
    if (slices.isOver) await slices.next();
  }
  return reader.end();
}

interface News {
  readonly count: number;
  readonly polygons: readonly Polygon[];
  /** The latest time of an entry. Times compare as texts, as in GeoWebCache: the most significant digits come first. */
  readonly lastUpdate: string;
}

/** Combines the entries that are newer than a time. An entry without a time is always new. */
function newer(entries: readonly FeedEntry[], last: string): News {
  const news = entries.filter(({ updated }) => updated === undefined || updated > last);
  let lastUpdate = last;
  for (const { updated } of news) if (updated !== undefined && updated > lastUpdate) lastUpdate = updated;
  return { count: news.length, polygons: news.flatMap(({ polygons }) => polygons), lastUpdate };
}
