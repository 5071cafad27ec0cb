import { join } from "node:path";
import { asTileX, asTileY, asZoom, matrixOf, tileExtent } from "../../grid/grid-set.ts";
import type { Catalogue } from "../../layer/catalogue.ts";
import { findSubset, type Layer } from "../../layer/layer.ts";
import type { TileListSource } from "../../layer/update-source.ts";
import type { StateWriter } from "../../ledger/state-writer.ts";
import { codeOf, errorMessage } from "../../lib/error-code.ts";
import type { Disk } from "../../lib/file/disk.ts";
import type { Logger } from "../../lib/process/logger.ts";
import { Slices } from "../../lib/process/slices.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { pause } from "../../lib/time/sleep.ts";
import { LayerChange } from "../../plan/layer-change.ts";
import type { ChangeSourceView } from "../change-documents.ts";
import type { CollectedChange, LayerChanges } from "../layer-changes.ts";
import { SourceProgress } from "../source-progress.ts";
import { type SourceReader, SourceReaders } from "../source-readers.ts";
import { type ListedTile, linesOf, parseLine } from "./list-lines.ts";
import type { TileListRecord, TileListStore } from "./tile-list-store.ts";

export interface TileListsParts {
  readonly catalogue: () => Catalogue;
  readonly changes: Pick<LayerChanges, "apply">;
  readonly store: TileListStore;
  readonly state: Pick<StateWriter, "write">;
  readonly disk: Pick<Disk, "readdir" | "stat" | "open">;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The pause between two looks at a directory. */
const POLL_MS = 3_000;
/** The bytes that are read and handled at once: some 12,000 lines. */
const PART_BYTES = 128 * 1024;
/** The most files of a directory. */
const MOST_FILES = 200_000;
/** A file of such a name is not finished yet, or is not a list: programs rename it when it is. */
const UNFINISHED = /^\.|(~|\.tmp|\.part)$/;

/**
 * Reads lists of expired tiles, which programs write into directories. A list is read as far as it goes, and again from
 * there when it grows. The database remembers how far, after the effect on the tiles: a line is handled at least once,
 * and a kill repeats at most one part of a list.
 */
export class TileLists extends SourceReaders<string, DirectoryReader> {
  readonly #parts: TileListsParts;

  constructor(parts: TileListsParts) {
    super();
    this.#parts = parts;
  }

  /** Returns the directories with lists. */
  protected sources(): ReadonlyMap<string, string> {
    const layers = [...this.#parts.catalogue().layers.values()];
    return new Map(layers.flatMap((layer) => listsOf(layer).map(({ directory }) => [directory, directory] as const)));
  }

  protected open(directory: string): DirectoryReader {
    return new DirectoryReader(directory, this.#parts);
  }
}

/** A file as the last look has found it. */
interface SeenFile {
  readonly size: number;
  readonly inode: string;
}

/** Reads the lists of one directory until it is closed. */
class DirectoryReader implements SourceReader {
  readonly #directory: string;
  readonly #parts: TileListsParts;
  readonly #closing = new AbortController();
  readonly #progress: SourceProgress;
  readonly #ended: Promise<void>;
  /** The files of the last look, by path. */
  #seen: ReadonlyMap<string, SeenFile> = new Map();
  #ignored = 0;
  /** The files of which a bad line was logged since the start. */
  readonly #logged = new Set<string>();
  /** The last failure that was logged. Undefined after a success. */
  #fault: string | undefined;

  constructor(directory: string, parts: TileListsParts) {
    this.#directory = directory;
    this.#parts = parts;
    this.#progress = new SourceProgress(parts.clock);
    this.#ended = this.#run();
  }

  view(): ChangeSourceView {
    return { type: "tileLists", source: this.#directory, ignored: this.#ignored, ...this.#progress.view() };
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#parts;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        await this.#look();
        if (this.#fault !== undefined)
          log.info("lists of expired tiles are read again", { directory: this.#directory });
        this.#fault = undefined;
        this.#progress.rested();
      } catch (error) {
        if (signal.aborted) return;
        this.#failed(errorMessage(error));
      }
      await pause(clock, POLL_MS, signal);
    }
  }

  /** Logs each failure once. */
  #failed(error: string): void {
    this.#progress.failed(error);
    if (this.#fault === error) return;
    this.#fault = error;
    this.#parts.log.warn("lists of expired tiles cannot be read", { directory: this.#directory, error });
  }

  /** Reads what is new in the directory. */
  async #look(): Promise<void> {
    const { store, state, clock } = this.#parts;
    const slices = new Slices(clock, this.#closing.signal);
    const records = store.of(this.#directory);
    const seen = new Map<string, SeenFile>();
    for (const path of await this.#files()) {
      if (slices.isOver) await slices.next();
      const file = await this.#stat(path);
      if (file === undefined) continue;
      const before = this.#seen.get(path);
      seen.set(path, file);
      const isSettled = before?.size === file.size && before.inode === file.inode;
      await this.#readFile(path, file, records.get(path), isSettled, slices);
    }
    this.#seen = seen;
    const gone = [...records.values()].filter(({ path }) => !seen.has(path));
    if (gone.length > 0)
      state.write(() => {
        for (const record of gone) store.delete(record);
      });
  }

  /** Returns the paths of the lists below the directory, in the order of their names. */
  async #files(): Promise<readonly string[]> {
    const entries = await this.#parts.disk.readdir(this.#directory, { recursive: true, withFileTypes: true });
    const files = entries.flatMap((entry) => {
      if (!entry.isFile() || UNFINISHED.test(entry.name)) return [];
      return [join(entry.parentPath, entry.name).slice(this.#directory.length + 1)];
    });
    if (files.length > MOST_FILES)
      throw new Error(`the directory has ${files.length} files, and ${MOST_FILES} at most are read: remove old lists`);
    return files.sort();
  }

  /** Returns the size and the number of a file. Undefined if it has just been removed. */
  async #stat(path: string): Promise<SeenFile | undefined> {
    try {
      const { size, ino } = await this.#parts.disk.stat(join(this.#directory, path));
      return { size, inode: String(ino) };
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  /**
   * Handles the new lines of a file. A file that is shorter than what was read, or another file of the same name, is
   * read from its beginning.
   * @param isSettled whether the file has not changed since the last look, so that its last line is complete
   */
  async #readFile(
    path: string,
    { size, inode }: SeenFile,
    known: TileListRecord | undefined,
    isSettled: boolean,
    slices: Slices,
  ): Promise<void> {
    let from = known === undefined || known.inode !== inode || known.readBytes > size ? 0 : known.readBytes;
    if (from >= size) return;
    const buffer = Buffer.alloc(Math.min(PART_BYTES, size - from));
    await using file = await this.#parts.disk.open(join(this.#directory, path), "r");
    while (from < size) {
      this.#closing.signal.throwIfAborted();
      const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.byteLength, size - from), from);
      if (bytesRead === 0) return;
      const isEnd = isSettled && from + bytesRead >= size;
      const { lines, bytes } = linesOf(buffer.subarray(0, bytesRead), isEnd, bytesRead === PART_BYTES);
      if (bytes === 0) return;
      from += bytes;
      await this.#handle(path, lines, { directory: this.#directory, path, inode, readBytes: from }, slices);
    }
  }

  async #handle(path: string, lines: readonly string[], after: TileListRecord, slices: Slices): Promise<void> {
    const { changes, store, log } = this.#parts;
    this.#progress.begun();
    const collected = this.#concerned();
    for (const line of lines) {
      if (slices.isOver) await slices.next();
      const tile = parseLine(line);
      // Not `some`: each layer gets the tile.
      const added = collected.map((one) => tile !== undefined && addTile(one, tile));
      if (line.trim() !== "" && !added.includes(true)) this.#ignore(path, line);
    }
    const { jobIds, refused } = await changes.apply(collected, this.#closing.signal, () => store.put(after));
    this.#progress.handled(lines.length, refused);
    if (jobIds.length > 0)
      log.info("a list of expired tiles was read", { directory: this.#directory, file: path, jobIds });
  }

  #concerned(): readonly ListChange[] {
    return [...this.#parts.catalogue().layers.values()].flatMap((layer) =>
      listsOf(layer)
        .filter(({ directory }) => directory === this.#directory)
        .map((source) => ({ layer, source, operation: source.operation, change: new LayerChange(layer) })),
    );
  }

  #ignore(file: string, line: string): void {
    this.#ignored++;
    if (this.#logged.has(file)) return;
    if (this.#logged.size < MOST_FILES) this.#logged.add(file);
    this.#parts.log.warn("a line of a list of expired tiles is no tile of a layer", {
      directory: this.#directory,
      file,
      line: line.slice(0, 100),
    });
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error("the server is closing"));
    await this.#ended;
  }
}

interface ListChange extends CollectedChange {
  readonly source: TileListSource;
}

const listsOf = ({ updateSources = [] }: Layer): readonly TileListSource[] =>
  updateSources.flatMap((source) => (source.type === "tileLists" ? [source] : []));

/** Adds the box of a tile: its ancestors, its descendants, and the tiles of other grid sets. Returns false if the grid set has no such tile. */
function addTile({ layer, source, change }: ListChange, { level, column, row }: ListedTile): boolean {
  const gridSet = findSubset(layer, source.gridSet)?.gridSet;
  if (gridSet === undefined || level >= gridSet.matrices.length) return false;
  const z = asZoom(level);
  const { matrixWidth, matrixHeight } = matrixOf(gridSet, z);
  if (column >= matrixWidth || row >= matrixHeight) return false;
  const tile = { z, x: asTileX(column), y: asTileY(matrixHeight - 1 - row) };
  return change.addBox(tileExtent(gridSet, tile), gridSet.srs, "excluded");
}
