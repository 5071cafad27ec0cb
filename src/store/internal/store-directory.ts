import { dirname, join } from "node:path";
import { threadId } from "node:worker_threads";
import { asGridSetName, type GridSetName } from "../../grid/grid-set.ts";
import type { LayerName, ParametersId } from "../../layer/tile-set.ts";
import type { Disk } from "../../lib/file/disk.ts";
import type { Machine } from "../../lib/machine.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { directoryName } from "../file/file-layout.ts";
import type { InventoryStore, StoredPyramid } from "../inventory-store.ts";
import type { LocalStore } from "../store.ts";
import type { TileStore } from "../tile-store.ts";
import { checkWritable, diskOf, diskSpaceOf, entriesOf, expectPresent, namesIn, rootCheck } from "./directories.ts";
import { isAbsent, storeError } from "./faults.ts";
import { ownerMarkIn } from "./owner-mark.ts";
import { parametersFilesOf } from "./parameters-files.ts";

export interface StoreDirectoryOptions {
  readonly machine: Pick<Machine, "clock" | "disk">;
  readonly root: string;
  /** The name of the store in messages. Absent: "the store". */
  readonly name?: string;
  /**
   * Whether every tile is synced to the disk. A sync costs a few ms per tile, and the tile survives a power loss at
   * once.
   */
  readonly fsync: boolean;
  /** Differs for each process. Temporary files of another instance are leftovers. */
  readonly instance: string;
}

/** The prefix of temporary files. The instance, and what identifies the process, follow it. */
const TEMPORARY = ".nuthatch-";
/** A temporary file has a number at its end. Other files of the store do not. */
const NUMBER = /-\d+$/;
let temporaries = 0;

/** The directory of a store, with a directory for each layer, and the state that the parts of the store share. */
export class StoreDirectory {
  readonly clock: Clock;
  readonly disk: Disk;
  readonly root: string;
  readonly fsync: boolean;
  /** @throws StoreError when the directory of the store is unavailable */
  readonly expectRoot: () => void;
  /** The prefix of this process's temporary files. */
  readonly #prefix: string;
  #lastLayer: { readonly layer: LayerName; readonly path: string } | undefined;

  constructor({ machine: { clock, disk }, root, name, fsync, instance }: StoreDirectoryOptions) {
    this.clock = clock;
    this.disk = disk;
    this.root = root;
    this.fsync = fsync;
    this.#prefix = `${TEMPORARY}${instance}-`;
    disk.mkdirSync(root, { recursive: true });
    this.expectRoot = rootCheck(disk, root, name);
  }

  /** Returns the name of a new temporary file. */
  temporaryName(): string {
    return `${this.#prefix}${process.pid}-${threadId}-${temporaries++}`;
  }

  /** Returns whether a file name belongs to a temporary file of another process. */
  isLeftover(name: string): boolean {
    return name.startsWith(TEMPORARY) && NUMBER.test(name) && !name.startsWith(this.#prefix);
  }

  /** Writes a small file, which is whole as soon as it is there. @throws the error of the system */
  writeWhole(path: string, content: string, encoding: "utf8" | "latin1"): void {
    const temporary = join(dirname(path), this.temporaryName());
    try {
      this.disk.writeFileSync(temporary, content, encoding);
      this.disk.renameSync(temporary, path);
    } catch (error) {
      this.disk.rmSync(temporary, { force: true });
      throw error;
    }
  }

  /** Removes the temporary files of interrupted writes of other processes from a directory. @throws StoreError */
  async removeLeftovers(directory: string): Promise<void> {
    try {
      for await (const { name } of entriesOf(this.disk, directory))
        if (this.isLeftover(name)) await this.disk.rm(join(directory, name), { force: true });
    } catch (error) {
      if (!isAbsent(error)) throw storeError(error, "leftovers cannot be removed");
    }
  }

  layerPath(layer: LayerName): string {
    // Cached, because successive calls mostly concern one layer.
    if (layer !== this.#lastLayer?.layer) this.#lastLayer = { layer, path: `${this.root}/${directoryName(layer)}` };
    return this.#lastLayer.path;
  }

  /**
   * Checks that a layer's directory, and each of `directories` in it, is either present or certainly absent.
   * @throws StoreError when one of them, or the directory of the store, is unavailable
   */
  expectPresent(layer: LayerName, ...directories: readonly string[]): void {
    this.expectRoot();
    for (const directory of [this.layerPath(layer), ...directories]) expectPresent(this.disk, this.root, directory);
  }

  /** Returns the names in a layer's directory. */
  namesInLayer(layer: LayerName): string[] {
    const names = namesIn(this.disk, this.layerPath(layer));
    if (names.length === 0) this.expectPresent(layer);
    return names;
  }
}

/** The methods that all stores in a directory have in common. */
type CommonMethods = Pick<LocalStore, "check" | "disk" | "diskSpace" | "putsAtOnce"> &
  Pick<TileStore, "describeParameters" | "parametersOf"> &
  Pick<InventoryStore, "layersThere" | "noteAlive" | "lastAliveMs">;

export const commonMethodsOf = (directory: StoreDirectory): CommonMethods => ({
  disk: diskOf(directory.disk, directory.root),
  diskSpace: () => diskSpaceOf(directory.disk, directory.root, directory.expectRoot),
  putsAtOnce: () => 1,
  check: (layer) => checkWritable(directory.disk, directory.layerPath(layer), directory.expectRoot),
  ...parametersFilesOf(directory),
  ...ownerMarkIn(directory),

  /** Lists the root once. Without a root no layer would seem to have tiles, so this throws then. */
  layersThere(layers) {
    directory.expectRoot();
    const names = new Set(namesIn(directory.disk, directory.root));
    return layers.filter((layer) => names.has(directoryName(layer)));
  },
});

/** Returns the pyramids of a layer's directories, once each. A directory has the name of a known grid set if it can. */
export function pyramidsOf(
  layer: LayerName,
  directories: Iterable<{ readonly gridSetDirectory: string; readonly parametersId: ParametersId }>,
  known: readonly GridSetName[],
): readonly StoredPyramid[] {
  const byDirectory = new Map(known.map((id) => [directoryName(id), id]));
  const found = new Map<string, StoredPyramid>();
  for (const { gridSetDirectory, parametersId } of directories) {
    const gridSet = byDirectory.get(gridSetDirectory) ?? asGridSetName(gridSetDirectory);
    found.set(`${gridSetDirectory}\n${parametersId}`, { layer, gridSet, parametersId });
  }
  return [...found.values()];
}
