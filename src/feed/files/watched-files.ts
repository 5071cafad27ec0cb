import { createHash } from "node:crypto";
import type { Catalogue } from "../../layer/catalogue.ts";
import type { Layer } from "../../layer/layer.ts";
import type { SourceOptions } from "../../layer/source-options.ts";
import type { LayerName } from "../../layer/tile-set.ts";
import type { FilesSource } from "../../layer/update-source.ts";
import type { StateWriter } from "../../ledger/state-writer.ts";
import { codeOf, errorMessage } from "../../lib/error-code.ts";
import type { Disk } from "../../lib/file/disk.ts";
import type { Logger } from "../../lib/process/logger.ts";
import { Slices } from "../../lib/process/slices.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { pause } from "../../lib/time/sleep.ts";
import { LayerChange } from "../../plan/layer-change.ts";
import { stampOf } from "../../source/local-file.ts";
import type { ChangeSourceView } from "../change-documents.ts";
import type { LayerChanges } from "../layer-changes.ts";
import { SourceProgress } from "../source-progress.ts";
import type { WatchedFileRecord, WatchedFileStore } from "./watched-file-store.ts";

export interface WatchedFilesParts {
  readonly catalogue: () => Catalogue;
  readonly changes: Pick<LayerChanges, "apply">;
  readonly store: WatchedFileStore;
  readonly state: Pick<StateWriter, "write">;
  readonly disk: Pick<Disk, "readdir" | "stat">;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The pause between two looks, and the multiple of the time of a look that it takes at least. */
const POLL_MS = 2_000;
const PAUSE_PER_LOOK = 10;
/** The most entries of a watched directory. */
const MOST_ENTRIES = 100_000;
const ABSENT = "";

/** A watched file or directory of a layer. */
interface Watched {
  readonly layer: Layer;
  readonly path: string;
  readonly source: FilesSource;
}

/** The last content of a file that differs from the recorded one, and since when the file has it. */
interface Unsettled {
  readonly stamp: string;
  readonly sinceMs: number;
}

/**
 * Watches files from which tiles are rendered: the archives of layers, and files that a layer names. When a file has
 * changed and then not changed again for the settling time, all data of the layer has changed. The database has the
 * content that the tiles show, so a change while no server runs is noticed too.
 */
export class WatchedFiles {
  readonly #parts: WatchedFilesParts;
  readonly #closing = new AbortController();
  readonly #progress = new Map<string, SourceProgress>();
  readonly #unsettled = new Map<string, Unsettled>();
  /** The last failure of each file that was logged. */
  readonly #faults = new Map<string, string>();
  #running: Promise<void> | undefined;

  constructor(parts: WatchedFilesParts) {
    this.#parts = parts;
  }

  /** Begins to watch. Each look reads the current configuration. */
  start(): void {
    this.#running = this.#run();
  }

  /** Returns the state of each file. */
  views(): readonly ChangeSourceView[] {
    return this.#watched().map(({ layer, path }) => ({
      type: "files" as const,
      source: path,
      ignored: 0,
      ...this.#progressOf(keyOf(layer.name, path)).view(),
    }));
  }

  #watched(): readonly Watched[] {
    return [...this.#parts.catalogue().layers.values()].flatMap((layer) =>
      filesOf(layer).flatMap((source) => source.paths.map((path) => ({ layer, path, source }))),
    );
  }

  #progressOf(key: string): SourceProgress {
    const known = this.#progress.get(key) ?? new SourceProgress(this.#parts.clock);
    this.#progress.set(key, known);
    return known;
  }

  async #run(): Promise<void> {
    const { clock } = this.#parts;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const beganMs = clock.monotonicNow();
      await this.#look();
      await pause(clock, Math.max(POLL_MS, (clock.monotonicNow() - beganMs) * PAUSE_PER_LOOK), signal);
    }
  }

  /** Never rejects: a file that cannot be looked at is looked at again. */
  async #look(): Promise<void> {
    const { store, state, log } = this.#parts;
    const watched = this.#watched();
    if (watched.length === 0 && this.#unsettled.size === 0) return;
    try {
      const records = new Map(store.all().map((record) => [keyOf(record.layer, record.path), record]));
      for (const one of watched) {
        const key = keyOf(one.layer.name, one.path);
        await this.#lookAt(one, key, records.get(key));
        records.delete(key);
        if (this.#closing.signal.aborted) return;
      }
      if (records.size > 0)
        state.write(() => {
          for (const record of records.values()) store.delete(record);
        });
    } catch (error) {
      if (!this.#closing.signal.aborted) log.error("watched files are behind", { error: errorMessage(error) });
    }
  }

  async #lookAt({ layer, path, source }: Watched, key: string, known: WatchedFileRecord | undefined): Promise<void> {
    const { store, state, changes, clock, log } = this.#parts;
    const { signal } = this.#closing;
    const progress = this.#progressOf(key);
    try {
      const stamp = await this.#stampOf(path);
      // While a file is being replaced it may be away for a moment.
      if (stamp === ABSENT || stamp === known?.stamp) {
        this.#unsettled.delete(key);
        if (stamp !== ABSENT) progress.rested();
        return;
      }
      const after = { layer: layer.name, path, stamp };
      if (known === undefined) {
        state.write(() => store.put(after));
        log.info("a file is watched", { layer: layer.name, file: path });
        return;
      }
      progress.begun();
      const before = this.#unsettled.get(key);
      const unsettled = before?.stamp === stamp ? before : { stamp, sinceMs: clock.monotonicNow() };
      this.#unsettled.set(key, unsettled);
      if (clock.monotonicNow() - unsettled.sinceMs < source.settleSeconds * 1_000) return;
      const change = new LayerChange(layer);
      change.addAll();
      const { jobIds, refused } = await changes.apply([{ layer, operation: source.operation, change }], signal, () =>
        store.put(after),
      );
      this.#unsettled.delete(key);
      this.#faults.delete(key);
      progress.handled(1, refused);
      progress.rested();
      log.info("a watched file has changed", { layer: layer.name, file: path, operation: source.operation, jobIds });
    } catch (error) {
      if (signal.aborted) return;
      const reason = errorMessage(error);
      progress.failed(reason);
      if (this.#faults.get(key) === reason) return;
      this.#faults.set(key, reason);
      log.warn("a watched file cannot be followed", { layer: layer.name, file: path, error: reason });
    }
  }

  /** Returns a text that changes with the content of a file, or of the files of a directory. Empty: it is absent. */
  async #stampOf(path: string): Promise<string> {
    const { disk, clock } = this.#parts;
    const status = await disk.stat(path).catch(absent);
    if (status === undefined) return ABSENT;
    if (!status.isDirectory()) return stampOf(status);
    const slices = new Slices(clock, this.#closing.signal);
    const hash = createHash("sha1");
    const entries = await disk.readdir(path, { recursive: true, withFileTypes: true });
    if (entries.length > MOST_ENTRIES)
      throw new Error(`the directory has ${entries.length} entries, and ${MOST_ENTRIES} at most are watched`);
    const paths = entries.filter((entry) => entry.isFile()).map((entry) => `${entry.parentPath}/${entry.name}`);
    for (const file of paths.sort()) {
      if (slices.isOver) await slices.next();
      const found = await disk.stat(file).catch(absent);
      if (found !== undefined) hash.update(`${file}\n${stampOf(found)}\n`);
    }
    return hash.digest("hex");
  }

  /** Ends the watching. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("the server is closing"));
    await this.#running;
  }
}

const keyOf = (layer: LayerName, path: string): string => `${layer}\n${path}`;

function absent(error: unknown): undefined {
  if (codeOf(error) === "ENOENT") return undefined;
  throw error;
}

/** How an archive is watched of which the configuration says nothing. */
const USUAL = { type: "files", operation: "soft", settleSeconds: 5 } as const;

/** Returns the watched files of a layer: those that it names, else the files of its source. */
function filesOf({ source, updateSources = [] }: Layer): readonly FilesSource[] {
  const named = updateSources.flatMap((one) => (one.type === "files" ? [one] : []));
  const own = ownFiles(source);
  if (own.length === 0 || named.some(({ paths }) => paths.some((path) => own.includes(path)))) return named;
  return [{ ...USUAL, paths: own }, ...named];
}

function ownFiles(source: SourceOptions): readonly string[] {
  switch (source.type) {
    case "mbtiles":
    case "pmtiles":
      return [source.file];
    case "arcgisCache":
      return [source.path];
    default:
      return [];
  }
}
