import type { GeoWebCacheOptions } from "../config/configuration.ts";
import type { ObjectChange } from "../gwc/configured-object.ts";
import type { Refusal } from "../lib/refusal.ts";
import { ok, type Result } from "../lib/result.ts";
import type { CoordinatorLink } from "./coordinator-link.ts";
import { GeoWebCacheFile } from "./geowebcache-file.ts";

/** Stores the objects that are made over HTTP: in the state database, or in the file of a directory of GeoWebCache. */
export class ObjectStore {
  readonly #coordinator: Pick<CoordinatorLink, "channel">;
  readonly #file: GeoWebCacheFile | undefined;

  constructor(coordinator: Pick<CoordinatorLink, "channel">, options: GeoWebCacheOptions | undefined) {
    this.#coordinator = coordinator;
    this.#file = options && new GeoWebCacheFile(options.file, options.digest ?? "");
  }

  /** Stores changes. They survive a kill once this has resolved. */
  async store(changes: readonly ObjectChange[]): Promise<Result<null, Refusal>> {
    const { channel } = this.#coordinator;
    if (this.#file === undefined) {
      await channel.call("storeObjects", changes);
      return ok(null);
    }
    await channel.call("beforeChanges", changes);
    const written = await this.#file.write(changes);
    if (!written.ok) await channel.call("notRemoved", changes);
    return written;
  }

  /** Reports the configuration that is in force now. */
  applied(options: GeoWebCacheOptions | undefined): void {
    if (options?.digest !== undefined) this.#file?.wasRead(options.digest);
  }
}
