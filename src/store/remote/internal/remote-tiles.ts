import { createHash } from "node:crypto";
import { formatOf } from "../../../layer/format.ts";
import type { LayerName, TileAddress } from "../../../layer/tile-set.ts";
import { decodeParametersFile, encodeParametersFile } from "../../file/parameters-file.ts";
import type { ConfirmTerms, PutOutcome, PutTerms, StoredTile, TileStore } from "../../tile-store.ts";
import type { Bucket, ObjectHead, PutCondition } from "../bucket.ts";
import { remoteStoreError } from "../remote-error.ts";
import { WRITTEN } from "../service-bucket.ts";
import { CHECK_KEY, keyLevel, parametersKey, tileKey } from "./keys.ts";
import type { Names } from "./names.ts";

/** The most attempts of a put while another writer changes the same tile. */
const TRIES = 5;
/** The most remembered tiles that were read right before a put. Such a put needs no read itself. */
const MOST_SEEN = 256;

export interface RemoteTileParts {
  readonly id: string;
  readonly bucket: Bucket;
  readonly names: Names;
}

type Parameters = Pick<TileStore, "describeParameters"> & {
  parametersOf(layer: LayerName, id: string): Promise<Readonly<Record<string, string>> | undefined>;
};

/** Reads and writes the tiles in the bucket. All methods are asynchronous. */
export class RemoteTiles implements Pick<TileStore, "get" | "keyOf" | "stat" | "put" | "confirm" | "check"> {
  readonly #parts: RemoteTileParts;
  readonly #seen = new Map<string, ObjectHead | undefined>();

  constructor(parts: RemoteTileParts) {
    this.#parts = parts;
  }

  keyOf(at: TileAddress): string {
    const { layer, gridSet, parametersId } = at.tileSet;
    return tileKey(keyLevel(at, this.#parts.names.nameOf(layer, gridSet, parametersId, at.z)), at.x, at.y);
  }

  async get(at: TileAddress): Promise<StoredTile | undefined> {
    const key = this.keyOf(at);
    const found = await this.#named("a tile cannot be read", "read", () => this.#parts.bucket.get(key));
    return found === undefined || found.bytes === 0 ? undefined : { bytes: found.body, modifiedMs: writtenMs(found) };
  }

  async stat(at: TileAddress): Promise<{ bytes: number; modifiedMs: number; confirmedMs: number } | undefined> {
    const key = this.keyOf(at);
    const found = await this.#named("a tile cannot be read", "read", () => this.#parts.bucket.head(key));
    if (found === undefined || found.bytes === 0) return undefined;
    const modifiedMs = writtenMs(found);
    // A confirmation that does not renew the time writes nothing, so both times are equal.
    return { bytes: found.bytes, modifiedMs, confirmedMs: modifiedMs };
  }

  async put(at: TileAddress, bytes: Uint8Array, terms: PutTerms, signal: AbortSignal): Promise<PutOutcome> {
    signal.throwIfAborted();
    const put = () => this.#put(at, bytes, terms, signal);
    const outcome = await this.#named("a tile cannot be written", "write", put);
    if (outcome === "ended") throw signal.reason;
    return outcome;
  }

  /**
   * Conditions make the outcome exact: the put replaces exactly the object that was read. Without a read the put
   * expects no object, because most tiles that are stored are new. Returns `ended` if nothing was stored because of the
   * signal.
   */
  async #put(
    at: TileAddress,
    bytes: Uint8Array,
    { guard, modifiedMs }: PutTerms,
    signal: AbortSignal,
  ): Promise<PutOutcome | "ended"> {
    const { bucket } = this.#parts;
    if (!guard()) return { stored: false };
    const key = this.keyOf(at);
    let there = this.#seen.get(key);
    this.#seen.delete(key);
    for (let tries = 0; tries < TRIES; tries++) {
      const condition: PutCondition = there === undefined ? { kind: "absent" } : { kind: "same", etag: there.etag };
      const described = this.#described(at, bytes, modifiedMs);
      const outcome = await bucket.put(key, bytes, { ...described, condition, guard, signal });
      if (outcome.kind === "ended") return "ended";
      if (outcome.kind === "refused") return { stored: false };
      if (outcome.kind === "stored") {
        // The scope was truncated during the put: the tile has an old name, which no reader uses.
        if (this.keyOf(at) !== key) return { stored: false };
        return { stored: true, replaced: there === undefined || there.bytes === 0 ? undefined : there.bytes };
      }
      if (signal.aborted) return "ended";
      there = await bucket.head(key);
    }
    throw new Error("other writers keep changing the tile");
  }

  async confirm(
    at: TileAddress,
    bytes: Uint8Array,
    { time, guard }: ConfirmTerms,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { bucket } = this.#parts;
    const key = this.keyOf(at);
    if (signal.aborted || !guard()) return false;
    let found: ObjectHead | undefined;
    try {
      found = await bucket.head(key);
    } catch {
      // The put after this confirmation reports the fault.
      return false;
    }
    if (found === undefined || found.bytes !== bytes.byteLength || found.md5 !== md5(bytes)) {
      this.#note(key, found);
      return false;
    }
    if (time === "keep") return guard() && this.keyOf(at) === key;
    // No service changes the time of an object. A copy onto itself costs as much as a put of the tile.
    const condition: PutCondition = { kind: "same", etag: found.etag };
    try {
      const outcome = await bucket.put(key, bytes, { ...this.#described(at, bytes), condition, guard, signal });
      return outcome.kind === "stored" && this.keyOf(at) === key;
    } catch {
      // The put after this confirmation reports the fault.
      return false;
    }
  }

  async check(): Promise<void> {
    await this.#named("a tile cannot be written", "write", () =>
      this.#parts.bucket.put(CHECK_KEY, Buffer.from("A server of Nuthatch has checked that it can write.\n"), {
        contentType: "text/plain",
      }),
    );
  }

  /** The values of parameters ids, in GWC's form. */
  get parameters(): Parameters {
    const { bucket } = this.#parts;
    return {
      describeParameters: (layer, id, values) =>
        this.#named("a parameters file cannot be written", "write", async () => {
          const key = parametersKey(layer, id);
          if ((await bucket.head(key)) !== undefined) return;
          await bucket.put(key, Buffer.from(encodeParametersFile(id, values), "latin1"), { contentType: "text/plain" });
        }),
      parametersOf: (layer, id) =>
        this.#named("a parameters file cannot be read", "read", async () => {
          const found = await bucket.get(parametersKey(layer, id));
          return found && decodeParametersFile(Buffer.from(found.body).toString("latin1"));
        }),
    };
  }

  /** Removes a tile. @returns its size in bytes, undefined if it did not exist */
  async delete(at: TileAddress): Promise<number | undefined> {
    const key = this.keyOf(at);
    return await this.#named("a tile cannot be removed", "write", async () => {
      const found = await this.#parts.bucket.head(key);
      if (found === undefined) return undefined;
      await this.#parts.bucket.delete(key);
      return found.bytes === 0 ? undefined : found.bytes;
    });
  }

  /** Removes tiles, 1,000 per request. @returns for each tile whether it is gone */
  async deleteAll(tiles: readonly TileAddress[]): Promise<readonly boolean[]> {
    const keys = tiles.map((at) => this.keyOf(at));
    const failures = await this.#named("tiles cannot be removed", "write", () => this.#parts.bucket.deleteAll(keys));
    return keys.map((key) => !failures.has(key));
  }

  #described(
    { tileSet }: TileAddress,
    bytes: Uint8Array,
    modifiedMs = this.#parts.bucket.now(),
  ): { contentType: string; metadata: Record<string, string> } {
    const format = formatOf(tileSet.format);
    const own = format?.contentType ?? (bytes[0] === 0xff ? "image/jpeg" : "image/png");
    return { contentType: own, metadata: { [WRITTEN]: String(Math.round(modifiedMs)) } };
  }

  #note(key: string, found: ObjectHead | undefined): void {
    const [oldest] = this.#seen.keys();
    if (this.#seen.size >= MOST_SEEN && oldest !== undefined) this.#seen.delete(oldest);
    if (found !== undefined) this.#seen.set(key, found);
  }

  async #named<T>(what: string, access: "read" | "write", work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw remoteStoreError(error, this.#parts.id, what, access);
    }
  }
}

const md5 = (bytes: Uint8Array): string => createHash("md5").update(bytes).digest("hex");

function writtenMs({ metadata, modifiedMs }: ObjectHead): number {
  const ms = Number(metadata[WRITTEN] ?? Number.NaN);
  return Number.isFinite(ms) && ms > 0 ? ms : modifiedMs;
}
