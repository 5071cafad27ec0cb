import { link, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { digestOf } from "../config/geowebcache/digest.ts";
import type { ObjectChange } from "../gwc/configured-object.ts";
import { editFile } from "../http/configuration/file/edit-file.ts";
import { editParts, type FilePart, partsOf, textOfParts } from "../http/configuration/file/file-parts.ts";
import { readFile as readXmlFile } from "../http/configuration/file/read-file.ts";
import { codeOf } from "../lib/error-code.ts";
import { fileFault } from "../lib/file-fault.ts";
import { conflict, type Refusal } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";

/** The most copies of earlier files that are there. */
const MOST_COPIES = 10;
const COPY = /^geowebcache_\d{4}-\d{2}-\d{2}T\d{6}\.bak$/;

/**
 * The `geowebcache.xml` that a server has for its configuration. A change is written beside the file and renamed over it,
 * so that a kill leaves the old file or the new one. A file that was edited since the server read it is not written.
 */
export class GeoWebCacheFile {
  readonly #file: string;
  #digest: string;
  /** Facts about the file with this digest, from the last change. `parts`: undefined if more than one layer was changed. */
  #known: (Pick<Edited, "parts"> & { readonly encoding: Encoding; readonly digest: string }) | undefined;

  /** `digest`: of the file as it was read. */
  constructor(file: string, digest: string) {
    this.#file = file;
    this.#digest = digest;
  }

  /** Records that the file was read again. */
  wasRead(digest: string): void {
    this.#digest = digest;
  }

  /** Writes changes into the file. Everything else in it stays as it is. */
  async write(changes: readonly ObjectChange[]): Promise<Result<null, Refusal>> {
    const file = this.#file;
    try {
      const before = await readFile(file);
      if (digestOf(before) !== this.#digest)
        return refuse(
          conflict(
            `${file} has been edited since it was read: POST /rest/reload reads it, and the change can be repeated.`,
          ),
        );
      const known = this.#known?.digest === this.#digest ? this.#known : undefined;
      const edited = this.#edited(before, changes, known?.parts);
      if (!edited.ok) return edited;
      const { text, parts } = edited.value;
      const encoding = known?.encoding ?? encodingOf(before);
      if (encoding === undefined)
        return refuse(conflict(`${file} is neither in UTF-8 nor in ISO-8859-1, so it cannot be changed over HTTP.`));
      // Added text is ASCII, so every encoding that keeps ASCII can hold it.
      const after = Buffer.concat([encoding.mark, Buffer.from(text.replace(/^\ufeff/, ""), encoding.name)]);
      await replaceFile(file, before, after);
      this.#digest = digestOf(after);
      this.#known = { parts, encoding, digest: this.#digest };
      return ok(null);
    } catch (error) {
      return refuse(conflict(`${file} cannot be written: ${fileFault(error)}`));
    }
  }

  /**
   * Returns the text of the file with the changes. After a change of one layer it returns the parts too.
   * `parts`: those of the file, if they are known.
   */
  #edited(before: Buffer, changes: readonly ObjectChange[], parts: Edited["parts"]): Result<Edited, Refusal> {
    const [change, ...more] = changes;
    const isOneLayer = change?.kind === "layer" && more.length === 0;
    if (isOneLayer && parts !== undefined) return edited(parts, change);
    const content = readXmlFile(before);
    if (!content.ok) return content;
    if (/<\w+:gwcConfiguration\b/.test(content.value.text))
      return refuse(
        conflict(`${this.#file} has a prefix before its elements, with which it cannot be changed over HTTP.`),
      );
    if (isOneLayer) return edited(partsOf(content.value), change);
    return ok({ text: editFile(content.value, changes), parts: undefined });
  }
}

interface Edited {
  readonly text: string;
  readonly parts: readonly FilePart[] | undefined;
}

function edited(before: readonly FilePart[], change: ObjectChange): Result<Edited, Refusal> {
  const parts = editParts(before, change);
  return parts.ok ? ok({ text: textOfParts(parts.value), parts: parts.value }) : parts;
}

interface Encoding {
  readonly name: "utf8" | "latin1";
  /** The byte order mark, or no byte. */
  readonly mark: Buffer;
}

const MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Returns the encoding of a file; undefined: it is another one. */
function encodingOf(bytes: Buffer): Encoding | undefined {
  const mark = bytes.subarray(0, MARK.length).equals(MARK) ? MARK : Buffer.alloc(0);
  const plain = bytes.subarray(mark.length);
  const name = (["utf8", "latin1"] as const).find((one) => Buffer.from(plain.toString(one), one).equals(plain));
  return name && { name, mark };
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

async function replaceFile(file: string, before: Buffer, after: Buffer): Promise<void> {
  const temporary = `${file}.new`;
  const { mode } = await stat(file);
  const handle = await open(temporary, "w", mode);
  try {
    await handle.writeFile(after);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await keepCopy(file, before, mode);
  await rename(temporary, file);
}
