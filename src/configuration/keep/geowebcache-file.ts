import { link, open, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { codeOf } from "../../lib/error-code.ts";
import { fileFault } from "../../lib/file/file-fault.ts";
import { conflict, type Refusal } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { machineClock } from "../../lib/time/machine-clock.ts";
import type { ReadXmlFile } from "../geowebcache/directory.ts";
import { editBytes } from "../geowebcache/edit-bytes.ts";
import { digestOf } from "../geowebcache/file-layout.ts";
import type { ObjectChange } from "../gwc/configured-object.ts";

/** The most copies of earlier files in the directory. */
const MOST_COPIES = 10;
const COPY = /^geowebcache_\d{4}-\d{2}-\d{2}T\d{6}\.bak$/;

/** The file when it was last read or written. */
interface KnownFile extends Pick<ReadXmlFile, "layout"> {
  /** The digest of the file if it was read, the bytes if it was written. */
  readonly content: string | Buffer<ArrayBuffer>;
}

/** The file before a change, and its permissions. */
interface Present {
  readonly bytes: Buffer;
  readonly mode: number;
}

/** The file is read in parts of this size to compare it with the written bytes. */
const PART_BYTES = 2 ** 20;

/**
 * The `geowebcache.xml` that is a server's configuration. A change is written to another file that is then renamed, so
 * a kill leaves the old file or the new one. A file that was edited after the server read it is not replaced.
 */
export class GeoWebCacheFile {
  readonly #file: string;
  #known: KnownFile;
  /**
   * The memory for the next written bytes, reused from the last but one change. A change of a file of 10 MB takes some
   * 20 ms of processor time. With new memory for each change, garbage collection takes 40 ms more.
   */
  #spare = Buffer.alloc(0);

  constructor(file: string, { digest, layout }: ReadXmlFile) {
    this.#file = file;
    this.#known = { content: digest, layout };
  }

  /** Records that the file was read again. */
  wasRead({ digest, layout }: ReadXmlFile): void {
    this.#known = { content: digest, layout };
  }

  /** Writes changes into the file, and leaves everything else unchanged. Calls must not overlap. */
  async write(changes: readonly ObjectChange[]): Promise<Result<null, Refusal>> {
    const file = this.#file;
    const { content, layout } = this.#known;
    try {
      const present = await presentFile(file, content);
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
      this.#known = { content: bytes, layout: ok(edited.value.layout) };
      this.#spare = typeof content === "string" ? Buffer.alloc(0) : Buffer.from(content.buffer);
      return ok(null);
    } catch (error) {
      return refuse(conflict(`${file} cannot be written: ${fileFault(error)}`));
    }
  }

  /** Concatenates pieces in the spare memory. No piece may be in that memory. */
  #join(pieces: readonly Buffer[]): Buffer<ArrayBuffer> {
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    if (this.#spare.length < length) this.#spare = Buffer.allocUnsafeSlow(Math.ceil(length * 1.5));
    let at = 0;
    for (const piece of pieces) at += piece.copy(this.#spare, at);
    return this.#spare.subarray(0, at);
  }
}

/** Returns the file if its content matches a digest or bytes. Undefined if it has been edited. */
async function presentFile(file: string, content: string | Buffer): Promise<Present | undefined> {
  const handle = await open(file);
  try {
    const { mode, size } = await handle.stat();
    if (typeof content === "string") {
      const bytes = await handle.readFile();
      return digestOf(bytes) === content ? { bytes, mode } : undefined;
    }
    if (size !== content.length) return undefined;
    const part = Buffer.allocUnsafe(Math.min(size, PART_BYTES));
    for (let at = 0; at < size; ) {
      const { bytesRead } = await handle.read(part, 0, part.length, at);
      const isSame = content.subarray(at, at + bytesRead).equals(part.subarray(0, bytesRead));
      if (bytesRead === 0 || !isSame) return undefined;
      at += bytesRead;
    }
    return { bytes: content, mode };
  } finally {
    await handle.close();
  }
}

/** Replaces the file by new bytes, with the old permissions. */
async function replaceFile(file: string, { bytes, mode }: Present, after: Buffer): Promise<void> {
  const temporary = `${file}.new`;
  try {
    const handle = await open(temporary, "w", mode);
    try {
      await handle.writeFile(after);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await keepCopy(file, bytes, mode);
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/**
 * Copies the file before the first change of each second, with GeoWebCache's name for copies, and removes the oldest
 * copies. A copy is a hard link, which writes no data: `replaceFile` then renames a new file to the first name.
 */
async function keepCopy(file: string, bytes: Buffer, mode: number): Promise<void> {
  const directory = dirname(file);
  const copy = join(directory, `geowebcache_${localTime(new Date(machineClock.now()))}.bak`);
  try {
    await link(file, copy);
  } catch (error) {
    if (codeOf(error) === "EEXIST") return;
    // Some file systems lack hard links.
    await writeFile(copy, bytes, { mode }).catch(async (fault: unknown) => {
      // Half of a copy would look like one.
      await rm(copy, { force: true });
      throw fault;
    });
  }
  const copies = (await readdir(directory)).filter((name) => COPY.test(name)).sort();
  for (const name of copies.slice(0, -MOST_COPIES)) await rm(join(directory, name), { force: true });
}

/** Returns the local time in the form `2026-07-13T091500`. */
function localTime(time: Date): string {
  const two = (n: number): string => String(n).padStart(2, "0");
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day}T${two(time.getHours())}${two(time.getMinutes())}${two(time.getSeconds())}`;
}
