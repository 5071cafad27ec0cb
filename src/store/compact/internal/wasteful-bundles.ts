import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { namesIn } from "../../internal/directories.ts";
import { storeError } from "../../internal/faults.ts";

/** The directory with a note for each bundle that has many unused bytes. */
const NOTES = "_nuthatch_wasteful_bundles_";

/** Records the bundles with many unused bytes, for the sweep. */
export class WastefulBundles {
  readonly #root: string;
  readonly #notes: string;

  constructor(root: string) {
    this.#root = root;
    this.#notes = join(root, NOTES);
  }

  #noteOf(bundle: string): string {
    return join(this.#notes, createHash("sha1").update(relative(this.#root, bundle)).digest("hex"));
  }

  add(bundle: string): void {
    mkdirSync(this.#notes, { recursive: true });
    writeFileSync(this.#noteOf(bundle), relative(this.#root, bundle));
  }

  delete(bundle: string): void {
    rmSync(this.#noteOf(bundle), { force: true });
  }

  get isEmpty(): boolean {
    return namesIn(this.#notes).length === 0;
  }

  /** Returns the paths of the bundles. @throws StoreError */
  list(): readonly string[] {
    return namesIn(this.#notes).flatMap((name) => {
      try {
        return [join(this.#root, readFileSync(join(this.#notes, name), "utf8"))];
      } catch (error) {
        throw storeError(error, "a note of the store cannot be read");
      }
    });
  }
}
