import { createHash } from "node:crypto";
import { join, relative } from "node:path";
import type { Disk } from "../../../lib/file/disk.ts";
import { namesIn } from "../../internal/directories.ts";
import { storeError } from "../../internal/faults.ts";

/** The directory with a note for each bundle that has many unused bytes. */
const NOTES = "_nuthatch_wasteful_bundles_";

/** Records the bundles with many unused bytes, for the sweep. */
export class WastefulBundles {
  readonly #disk: Disk;
  readonly #root: string;
  readonly #notes: string;

  constructor(disk: Disk, root: string) {
    this.#disk = disk;
    this.#root = root;
    this.#notes = join(root, NOTES);
  }

  #noteOf(bundle: string): string {
    return join(this.#notes, createHash("sha1").update(relative(this.#root, bundle)).digest("hex"));
  }

  add(bundle: string): void {
    this.#disk.mkdirSync(this.#notes, { recursive: true });
    this.#disk.writeFileSync(this.#noteOf(bundle), relative(this.#root, bundle));
  }

  delete(bundle: string): void {
    this.#disk.rmSync(this.#noteOf(bundle), { force: true });
  }

  get isEmpty(): boolean {
    return namesIn(this.#disk, this.#notes).length === 0;
  }

  /** Returns the paths of the bundles. Removes notes that were cut off, as by a full disk. @throws StoreError */
  list(): readonly string[] {
    return namesIn(this.#disk, this.#notes).flatMap((name) => {
      const note = join(this.#notes, name);
      try {
        const bundle = join(this.#root, this.#disk.readFileSync(note, "utf8"));
        if (this.#noteOf(bundle) === note) return [bundle];
        this.#disk.rmSync(note, { force: true });
        return [];
      } catch (error) {
        throw storeError(error, "a note of the store cannot be read");
      }
    });
  }
}
