import { link, open, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { digestOf } from "../config/geowebcache/digest.ts";
import type { ReadXmlFile } from "../config/geowebcache/directory.ts";
import type { ObjectChange } from "../gwc/configured-object.ts";
import { editBytes } from "../http/configuration/file/file-layout.ts";
import { codeOf } from "../lib/error-code.ts";
import { fileFault } from "../lib/file-fault.ts";
import { conflict, type Refusal } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";

/** The most copies of earlier files that are there. */
const MOST_COPIES = 10;
const COPY = /^geowebcache_\d{4}-\d{2}-\d{2}T\d{6}\.bak$/;

/** The file as it was read or written last. */
interface KnownFile extends Pick<ReadXmlFile, "layout"> {
  /** The digest of the file that was read, or the bytes that were written. */
  readonly content: string | Buffer;
}

/** The bytes of the file, and its permissions. */
interface Present {
  readonly bytes: Buffer;
  readonly mode: number;
}

/**
 * The `geowebcache.xml` that a server has for its configuration. A change is written beside the file and renamed over it,
 * so that a kill leaves the old file or the new one. A file that was edited since the server read it is not written.
 */
export class GeoWebCacheFile {
  readonly #file: string;
  #known: KnownFile;
  /** The memory of the bytes that were written, and that of those before them: files of a megabyte make much garbage. */
  #written = Buffer.alloc(0);
  #spare = Buffer.alloc(0);

  constructor(file: string, { digest, layout }: ReadXmlFile) {
    this.#file = file;
    this.#known = { content: digest, layout };
  }

  /** Records that the file was read again. */
  wasRead({ digest, layout }: ReadXmlFile): void {
    this.#known = { content: digest, layout };
  }

  /** Writes changes into the file. Everything else in it stays as it is. One call after the other. */
  async write(changes: readonly ObjectChange[]): Promise<Result<null, Refusal>> {
    const file = this.#file;
    const { layout } = this.#known;
    try {
      const present = await this.#unedited();
      if (present === undefined)
        return refuse(
          conflict(
            `${file} has been edited since it was read: POST /rest/reload reads it, and the change can be repeated.`,
          ),
        );
      if (!layout.ok) return refuse(conflict(`${file} ${layout.error}`));
      const edited = editBytes({ bytes: present.bytes, layout: layout.value }, changes);
      if (!edited.ok) return edited;
      const bytes = this.#join(edited.value.pieces);
      await replaceFile(file, present, bytes);
      [this.#written, this.#spare] = [this.#spare, this.#written];
      this.#known = { content: bytes, layout: ok(edited.value.layout) };
      return ok(null);
    } catch (error) {
      return refuse(conflict(`${file} cannot be written: ${fileFault(error)}`));
    }
  }

  /** Returns the file as it is known; undefined: it is another one. */
  async #unedited(): Promise<Present | undefined> {
    const { content } = this.#known;
    const handle = await open(this.#file);
    try {
      const { mode, size } = await handle.stat();
      if (typeof content === "string") {
        const bytes = await handle.readFile();
        return digestOf(bytes) === content ? { bytes, mode } : undefined;
      }
      if (size !== content.length) return undefined;
      const room = this.#room(size);
      let length = 0;
      for (let read = 1; read > 0 && length < size; length += read)
        read = (await handle.read(room, length, size - length, length)).bytesRead;
      return room.subarray(0, length).equals(content) ? { bytes: content, mode } : undefined;
    } finally {
      await handle.close();
    }
  }

  /** Joins pieces, none of which is in the spare memory. */
  #join(pieces: readonly Buffer[]): Buffer {
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const joined = this.#room(length).subarray(0, length);
    let at = 0;
    for (const piece of pieces) at += piece.copy(joined, at);
    return joined;
  }

  /** Returns the spare memory, with at least `size` bytes. */
  #room(size: number): Buffer {
    if (this.#spare.length < size) this.#spare = Buffer.allocUnsafeSlow(Math.ceil(size * 1.5));
    return this.#spare;
  }
}

/**
 * Keeps the file before the first change of each second under GeoWebCache's name for copies, and removes the oldest
 * ones. The copy is a hard link, which costs no write: `replaceFile` then renames another file over the first name.
 */
async function keepCopy(file: string, bytes: Buffer, mode: number): Promise<void> {
  const directory = dirname(file);
  const copy = join(directory, `geowebcache_${localTime(new Date())}.bak`);
  try {
    await link(file, copy);
  } catch (error) {
    if (codeOf(error) === "EEXIST") return;
    // Not every file system has hard links.
    await writeFile(copy, bytes, { mode });
  }
  const copies = (await readdir(directory)).filter((name) => COPY.test(name)).sort();
  for (const name of copies.slice(0, -MOST_COPIES)) await rm(join(directory, name), { force: true });
}

/** Returns `2026-07-13T091500`. */
function localTime(time: Date): string {
  const two = (n: number): string => String(n).padStart(2, "0");
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day}T${two(time.getHours())}${two(time.getMinutes())}${two(time.getSeconds())}`;
}

async function replaceFile(file: string, { bytes, mode }: Present, after: Buffer): Promise<void> {
  const temporary = `${file}.new`;
  const handle = await open(temporary, "w", mode);
  try {
    await handle.writeFile(after);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await keepCopy(file, bytes, mode);
  await rename(temporary, file);
}
