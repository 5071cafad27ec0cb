import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { StoreOptions } from "../../../store/store-options.ts";

/** The local copies of the names of generations, as the lead sends them. It sends none to the node beside it. */
export class NodeNames {
  /** The names of stores that the node does not know yet, by the id of the store. */
  readonly #early = new Map<string, string>();

  /** Replaces the names of a store. Returns whether there were none. */
  replace(stores: readonly StoreOptions[], id: string, text: string): boolean {
    const store = stores.find((one) => one.id === id);
    if (store === undefined) this.#early.set(id, text);
    if (store?.type !== "s3") return false;
    const { namesFile } = store;
    const before = readOrEmpty(namesFile);
    if (before === text) return false;
    mkdirSync(dirname(namesFile), { recursive: true });
    writeFileSync(`${namesFile}.node`, text, { mode: 0o600 });
    renameSync(`${namesFile}.node`, namesFile);
    return before === "";
  }

  /** Makes the copies for stores that the node gets to know now, before it opens them. */
  configure(stores: readonly StoreOptions[]): void {
    for (const { id } of stores) {
      const text = this.#early.get(id);
      this.#early.delete(id);
      if (text !== undefined) this.replace(stores, id, text);
    }
  }
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    // There is none yet. A fault of the disk shows when the file is replaced.
    return "";
  }
}
