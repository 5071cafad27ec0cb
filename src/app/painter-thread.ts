import { parentPort, workerData } from "node:worker_threads";
import type { DrawOrder, WrittenTile } from "../cache/draw.ts";
import type { PaintResult } from "../cache/draws.ts";
import { type GenerationStamp, Generations } from "../cache/generations.ts";
import { paint } from "../cache/paint.ts";
import { formatOf } from "../layer/format.ts";
import { findSubset, type Layer, type SourceOptions } from "../layer/layer.ts";
import { Channel } from "../lib/channel.ts";
import { giveWay } from "../lib/thread-priority.ts";
import { createSource } from "../source/create-source.ts";
import { type Source, SourceError } from "../source/source.ts";
import { createFileBlobStore } from "../store/file-blob-store.ts";
import type { TileSet } from "../tile/tile-set.ts";

/** What a painter is given at its birth. */
export interface PainterData {
  readonly layers: readonly Layer[];
  readonly storeRoot: string;
  readonly fsync: boolean;
  readonly instance: string;
  readonly generations: SharedArrayBuffer;
}

/** What a painter can be asked. */
export interface PainterMethods {
  paint(id: number, order: DrawOrder, stamp: GenerationStamp, bytesWanted: boolean): Promise<PaintResult>;
  cancel(id: number): void;
  settle(): Promise<void>;
  configure(layers: readonly Layer[]): void;
  close(): Promise<void>;
}

/** What a painter tells the front. */
export interface PainterEvents {
  written(tileSet: TileSet, tiles: readonly WrittenTile[]): void;
}

function startPainter(port: NonNullable<typeof parentPort>, data: PainterData): void {
  const store = createFileBlobStore({ root: data.storeRoot, fsync: data.fsync, instance: data.instance });
  const generations = new Generations(data.generations);
  const sources = new Map<string, Source>();
  const inFlight = new Map<number, AbortController>();
  let layers = new Map(data.layers.map((l) => [l.name, l]));
  let storing = 0;
  let settled: (() => void)[] = [];

  const sourceOf = (options: SourceOptions): Source => {
    const key = JSON.stringify(options);
    const known = sources.get(key);
    if (known !== undefined) return known;
    const source = createSource(options);
    sources.set(key, source);
    return source;
  };

  const work = async (
    order: DrawOrder,
    stamp: GenerationStamp,
    bytesWanted: boolean,
    signal: AbortSignal,
  ): Promise<PaintResult> => {
    const layer = layers.get(order.tileSet.layer);
    const subset = layer === undefined ? undefined : findSubset(layer, order.tileSet.gridSet);
    const format = formatOf(order.tileSet.format);
    if (layer === undefined || subset === undefined || format === undefined) return { kind: "cancelled" };
    try {
      const painting = await paint(
        order,
        {
          layer,
          subset,
          format,
          source: sourceOf(layer.source),
          store,
          isCurrent: () => generations.isCurrent(stamp),
          storing: (busy) => {
            storing += busy ? 1 : -1;
          },
          bytesWanted,
        },
        signal,
      );
      if (painting.written.length > 0) channel.note("written", [order.tileSet, painting.written]);
      const { stale, storeFailure, storeFull } = painting;
      const tiles = bytesWanted ? painting.tiles.map(({ x, y, bytes }) => ({ x, y, bytes })) : [];
      return { kind: "painted", tiles, stale, storeFailure, storeFull };
    } catch (error) {
      if (signal.aborted) return { kind: "cancelled" };
      if (error instanceof SourceError) {
        return { kind: "failed", failure: error.failure, message: error.message, retryAfterMs: error.retryAfterMs };
      }
      throw error;
    } finally {
      // After what was written has been told: the messages keep their order.
      if (storing === 0) {
        for (const resolve of settled) resolve();
        settled = [];
      }
    }
  };

  const methods: PainterMethods = {
    async paint(id, order, stamp, bytesWanted) {
      const abort = new AbortController();
      inFlight.set(id, abort);
      try {
        return await work(order, stamp, bytesWanted, abort.signal);
      } finally {
        inFlight.delete(id);
      }
    },
    cancel(id) {
      inFlight.get(id)?.abort(new Error("cancelled"));
    },
    settle() {
      return storing === 0 ? Promise.resolve() : new Promise((resolve) => settled.push(resolve));
    },
    configure(next) {
      layers = new Map(next.map((l) => [l.name, l]));
      // Sources that nobody names any more close when what they draw has ended.
      const used = new Set(next.map((l) => JSON.stringify(l.source)));
      for (const [key, source] of sources) {
        if (used.has(key)) continue;
        sources.delete(key);
        void source[Symbol.asyncDispose]();
      }
    },
    async close() {
      await Promise.all([...sources.values()].map((source) => source[Symbol.asyncDispose]()));
      await store[Symbol.asyncDispose]();
      setImmediate(() => process.exit(0));
    },
  };
  const channel = new Channel<PainterMethods, PainterEvents>(port, methods);
}

if (parentPort !== null) {
  // Hits come first: they take microseconds, a draw takes milliseconds.
  giveWay();
  startPainter(parentPort, workerData);
}
