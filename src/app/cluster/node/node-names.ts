import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { isRemote, type StoreOptions } from "../../../store/store-options.ts";

/** The local copies of generation names, replaced when the lead sends new ones. The node beside the lead gets none. */
export class NodeNames {
  /** The names of stores that the node does not know yet, by the id of the store. */
  readonly #early = new Map<string, string>();

  /** Replaces the names of a store. Returns whether they are the first ones. */
  replace(stores: readonly StoreOptions[], id: string, text: string): boolean {
    const store = stores.find((one) => one.id === id);
    if (store === undefined) this.#early.set(id, text);
    if (store === undefined || !isRemote(store)) return false;
    const { namesFile } = store;
    const before = readOrEmpty(namesFile);
    if (before === text) return false;
    mkdirSync(dirname(namesFile), { recursive: true });
    writeFileSync(`${namesFile}.node`, text, { mode: 0o600 });
    renameSync(`${namesFile}.node`, namesFile);
    return before === "";
  }

  /** Makes the copies for newly configured stores, before the node opens them. */
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
    // The file does not exist yet. A fault of the disk shows when the file is replaced.
    return "";
  }
}
