import { dirname } from "node:path";
import * as z from "zod";
import { asGridSetName, asZoom } from "../../../grid/grid-set.ts";
import { asLayerName, asParametersId } from "../../../layer/tile-set.ts";
import { codeOf } from "../../../lib/error-code.ts";
import type { Disk } from "../../../lib/file/disk.ts";
import { StoreError } from "../../tile-store.ts";
import type { Bucket } from "../bucket.ts";
import { RemoteError, remoteFailure } from "../remote-error.ts";
import type { RemoteStoreParts } from "../remote-options.ts";
import { type Generations, type NameOf, NO_GENERATIONS, nameIn } from "./generations.ts";
import { NAMES_KEY } from "./keys.ts";

const pyramid = [
  z.string().transform(asLayerName),
  z.string().transform(asGridSetName),
  z.string().transform(asParametersId),
] as const;
const ScopeSchema = z.union([
  z.tuple([pyramid[0]]),
  z.tuple([...pyramid]),
  z.tuple([...pyramid, z.number().int().nonnegative().transform(asZoom)]),
]);
const named = { scope: ScopeSchema, name: z.string().regex(/^[0-9a-z]*$/) };
const GenerationsSchema = z.object({
  version: z.literal(1),
  names: z.array(z.object(named)),
  asides: z.array(z.object({ id: z.string(), scope: ScopeSchema, names: z.array(z.object(named)) })),
  retired: z.array(z.object({ ...named, sinceMs: z.number(), swept: z.boolean() })),
});

/** @throws Error when `encodeGenerations` has not made the text */
export const parseGenerations = (text: string): Generations => GenerationsSchema.parse(JSON.parse(text));

/**
 * Returns the text of the document.
 * @throws Error when it could not be read again: such a document would make the tiles of the store unreadable
 */
function encodeGenerations(generations: Generations): string {
  const text = JSON.stringify(generations);
  parseGenerations(text);
  return text;
}

/**
 * The names of generations as the processes of this machine see them: a local copy of the document in the bucket. Each
 * process checks the copy before it makes a key, which takes microseconds. A truncation therefore needs no message: a
 * read that begins after the copy was replaced uses the new names.
 */
export class Names {
  readonly #disk: Disk;
  readonly #id: string;
  readonly #path: string;
  #seen = "";
  #generations: Generations = NO_GENERATIONS;
  #nameOf: NameOf = nameIn([]);

  constructor(disk: Disk, { id, namesFile }: Pick<RemoteStoreParts, "id" | "namesFile">) {
    this.#disk = disk;
    this.#id = id;
    this.#path = namesFile;
  }

  /** The current names. @throws StoreError when this server has not read the document of the bucket yet */
  get current(): Generations {
    this.#refresh();
    return this.#generations;
  }

  /** Returns a function that looks up the current names. @throws StoreError */
  get nameOf(): NameOf {
    this.#refresh();
    return this.#nameOf;
  }

  #refresh(): void {
    try {
      const { ino, mtimeNs, size } = this.#disk.statSync(this.#path, { bigint: true });
      const seen = `${ino} ${mtimeNs} ${size}`;
      if (seen === this.#seen) return;
      const generations = parseGenerations(this.#disk.readFileSync(this.#path, "utf8"));
      // If the file was replaced between the two calls, the next check reads it again.
      this.#seen = seen;
      this.#generations = generations;
      this.#nameOf = nameIn(generations.names);
    } catch (error) {
      throw unknownNames(this.#id, error);
    }
  }

  /** Replaces the copy atomically. */
  replace(text: string): void {
    this.#disk.mkdirSync(dirname(this.#path), { recursive: true });
    const temporary = `${this.#path}.new`;
    this.#disk.writeFileSync(temporary, text, { mode: 0o600 });
    this.#disk.renameSync(temporary, this.#path);
  }
}

function unknownNames(id: string, error: unknown): StoreError {
  const why = codeOf(error) === "ENOENT" ? "not read yet" : codeOf(error) || "not readable";
  return new StoreError("unavailable", `store ${id}: the names of its generations are ${why}`, error);
}

/** The most attempts to change the document while another server changes it at the same time. */
const TRIES = 8;

/** The document in the bucket, which is the authority. Only one thread of the store's owner has an instance. */
export class NamesDocument {
  readonly #bucket: Bucket;
  readonly #names: Names;
  /** The ETag of the document of which the copy was made. Undefined if the document does not exist. */
  #etag: string | undefined;
  #isLoaded = false;

  constructor(bucket: Bucket, names: Names) {
    this.#bucket = bucket;
    this.#names = names;
  }

  /** Reads the document. @throws RemoteError */
  async load(): Promise<void> {
    const found = await this.#bucket.get(NAMES_KEY);
    const text = found === undefined ? encodeGenerations(NO_GENERATIONS) : Buffer.from(found.body).toString("utf8");
    try {
      parseGenerations(text);
    } catch (error) {
      throw remoteFailure(0, `the document ${NAMES_KEY} cannot be read`, error);
    }
    this.#etag = found?.etag;
    this.#names.replace(text);
    this.#isLoaded = true;
  }

  async current(): Promise<Generations> {
    if (!this.#isLoaded) await this.load();
    return this.#names.current;
  }

  /**
   * Changes the document, then the copy. If the put fails, leaves the copy: nothing has changed for readers, and the
   * next change begins with the document in the bucket.
   */
  async change(make: (before: Generations) => Generations): Promise<void> {
    for (let tries = 0; tries < TRIES; tries++) {
      const before = await this.current();
      const after = make(before);
      if (after === before) return;
      const text = encodeGenerations(after);
      const outcome = await this.#bucket.put(NAMES_KEY, Buffer.from(text), {
        contentType: "application/json",
        condition: this.#etag === undefined ? { kind: "absent" } : { kind: "same", etag: this.#etag },
      });
      if (outcome.kind === "stored") {
        this.#etag = outcome.etag ?? (await this.#bucket.head(NAMES_KEY))?.etag;
        this.#names.replace(text);
        return;
      }
      await this.load();
    }
    throw new RemoteError(0, `another server keeps changing the document ${NAMES_KEY}`);
  }
}
