import { readFileSync } from "node:fs";
import type { Configuration } from "../../../configuration/configuration.ts";
import { codeOf } from "../../../lib/error-code.ts";
import { isRemote, type StoreOptions } from "../../../store/store-options.ts";

/** The local copies of generation names. The coordinator replaces them with each truncation of a store in S3. */
export class StoreNames {
  #files: readonly { readonly id: string; readonly file: string }[] = [];
  readonly #sent = new Map<string, string>();

  constructor({ stores }: Configuration) {
    this.configure(stores);
  }

  configure(stores: readonly StoreOptions[]): void {
    this.#files = stores.flatMap((store) => (isRemote(store) ? [{ id: store.id, file: store.namesFile }] : []));
  }

  all(): readonly { readonly id: string; readonly text: string }[] {
    return this.#files.flatMap(({ id, file }) => {
      const text = read(file);
      return text === undefined ? [] : [{ id, text }];
    });
  }

  /** Returns the names that have changed since the last call. */
  changed(): readonly { readonly id: string; readonly text: string }[] {
    const found = this.all().filter(({ id, text }) => this.#sent.get(id) !== text);
    for (const { id, text } of found) this.#sent.set(id, text);
    return found;
  }
}

/** The file may be missing if the coordinator has not read the document of the bucket yet. */
function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
