import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { codeOf } from "../../lib/error-code.ts";
import { fileFault } from "../../lib/file/file-fault.ts";
import { conflict, type Refusal, refusalMessage } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { parseXml } from "../../lib/text/xml-element.ts";
import { QUOTA_FIELDS, type QuotaConfiguration } from "../../quota/configuration/quota-configuration.ts";
import { decodeQuotaFile, QUOTA, withoutUnknown } from "../geowebcache/directory.ts";
import { digestOf } from "../geowebcache/file-layout.ts";
import { Splices } from "../geowebcache/splices.ts";
import { elementText } from "../gwc/codec/encode-document.ts";
import { quotaNode } from "../gwc/codec/quota-codec.ts";

const INTERVAL = ["cacheCleanUpFrequency", "cacheCleanUpUnits"] as const;
/** GeoWebCache's root element. Its fields have the order of the classic interface. */
const ROOT = "gwcQuotaConfiguration";

/** A file in which the quota is stored. Its methods are synchronous, because a change of the quota is one turn. */
export interface QuotaFile {
  /** Returns the quota of the file, without quotas of unknown layers. Undefined if there is no valid file. */
  read(layers: Pick<ReadonlySet<string>, "has">): QuotaConfiguration | undefined;
  /** Writes a quota. Refuses if the file has been edited since it was last read. */
  write(quota: QuotaConfiguration): Result<null, Refusal>;
}

/**
 * The `geowebcache-diskquota.xml` of a directory of GeoWebCache. A quota is written to another file that is then
 * renamed. A file that was edited after it was read is not replaced. The methods are synchronous, because a change of
 * the quota is one turn.
 */
export class GeoWebCacheQuotaFile implements QuotaFile {
  readonly #file: string;
  /** The digest of the file when it was last read. Undefined if there was no file. */
  #digest: string | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  read(layers: Pick<ReadonlySet<string>, "has">): QuotaConfiguration | undefined {
    let bytes: Buffer | undefined;
    try {
      bytes = this.#bytes();
    } catch {
      // The load of the configuration has warned of an unreadable file.
      return undefined;
    }
    this.#digest = bytes && digestOf(bytes);
    const quota = bytes && decodeQuotaFile(bytes);
    return quota?.ok === true ? withoutUnknown(quota.value, layers) : undefined;
  }

  write(quota: QuotaConfiguration): Result<null, Refusal> {
    const file = this.#file;
    try {
      const before = this.#bytes();
      if ((before && digestOf(before)) !== this.#digest)
        return refuse(
          conflict(
            `${file} has been edited since it was read: POST /rest/reload reads it, and the change can be repeated.`,
          ),
        );
      const after = before === undefined ? ok(newText(quota)) : editedText(before, quota);
      if (!after.ok) return refuse(conflict(`${file}: ${after.error}`));
      const bytes = Buffer.from(after.value);
      if (before === undefined || !before.equals(bytes)) replaceFile(file, bytes);
      this.#digest = digestOf(bytes);
      return ok(null);
    } catch (error) {
      return refuse(conflict(`${file} cannot be written: ${fileFault(error)}`));
    }
  }

  #bytes(): Buffer | undefined {
    try {
      return readFileSync(this.#file);
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      throw error;
    }
  }
}

/** Returns the quota file of a directory of GeoWebCache. */
export const openQuotaFile = (directory: string): QuotaFile => new GeoWebCacheQuotaFile(join(directory, QUOTA));

const newText = (quota: QuotaConfiguration): string =>
  `<?xml version="1.0" encoding="utf-8"?>\n${elementText(ROOT, quotaNode(quota, "value-units"), "")}\n`;

/** Returns the text of a file with the changed fields replaced, and all other text unchanged. */
function editedText(before: Buffer, quota: QuotaConfiguration): Result<string, string> {
  const text = before.toString();
  if (!Buffer.from(text).equals(before)) return refuse("the file is not in UTF-8, so it cannot be changed over HTTP.");
  const read = decodeQuotaFile(before);
  const root = parseXml(text);
  if (!read.ok || !root.ok) {
    const why = read.ok ? "" : ` (${refusalMessage(read.error)})`;
    return refuse(`the file cannot be read${why}, so it is not changed.`);
  }
  const present = read.value;
  const splices = new Splices(text);
  const changed = new Set<string>(QUOTA_FIELDS.filter((name) => !isDeepStrictEqual(present[name], quota[name])));
  // The file's interval may have another unit than the quota read from it, so value and unit are replaced together.
  if (INTERVAL.some((name) => changed.has(name))) for (const name of INTERVAL) changed.add(name);
  for (const [name, node] of quotaNode(quota, "value-units").fields) {
    if (!changed.has(name)) continue;
    const content = (indent: string): string => elementText(name, node, indent);
    const element = root.value.children.find((child) => child.name === name);
    if (element === undefined) splices.insert(root.value, name, QUOTA_FIELDS, content);
    else splices.replace(element, content);
  }
  return ok(splices.result());
}

function replaceFile(file: string, bytes: Buffer): void {
  const temporary = `${file}.new`;
  const { mode = 0o644 } = statSync(file, { throwIfNoEntry: false }) ?? {};
  try {
    const handle = openSync(temporary, "w", mode);
    try {
      writeFileSync(handle, bytes);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
