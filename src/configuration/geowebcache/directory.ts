import { join, resolve } from "node:path";
import type { KeptUser } from "../../account/user.ts";
import { codeOf } from "../../lib/error-code.ts";
import { fileFault } from "../../lib/file/file-fault.ts";
import { readWholeFile } from "../../lib/file/read-whole-file.ts";
import { type Refusal, refusalMessage } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { machineClock } from "../../lib/time/machine-clock.ts";
import {
  applyQuotaChange,
  DEFAULT_QUOTA,
  type QuotaConfiguration,
} from "../../quota/configuration/quota-configuration.ts";
import { inspectArchive } from "../../source/archive/open-archive.ts";
import { decodeQuotaChange } from "../gwc/codec/quota-codec.ts";
import type { ConfiguredObject } from "../gwc/configured-object.ts";
import type { ConfigurationProblem } from "../problem.ts";
import { makeDefaultFiles } from "./default-files.ts";
import { digestOf, type FileLayout, layoutOf } from "./file-layout.ts";
import {
  type ArchiveNames,
  type FileContent,
  inForce,
  namelessArchives,
  readFile as readXmlFile,
} from "./read-file.ts";
import { readUsers } from "./users.ts";

/** The names of GeoWebCache's files. */
const CONFIGURATION = "geowebcache.xml";
export const QUOTA = "geowebcache-diskquota.xml";

/** The result of reading a `geowebcache.xml`. */
export interface ReadXmlFile {
  /** The hash of the file's bytes. */
  readonly digest: string;
  /**
   * The layout of the file. An error says why the file cannot be changed, as the end of a sentence that begins with its
   * name.
   */
  readonly layout: Result<FileLayout, string>;
}

/** The result of reading a directory of GeoWebCache. */
export interface GeoWebCacheDirectory {
  /** Absolute paths of the directory and of its `geowebcache.xml`. */
  readonly path: string;
  readonly file: string;
  /** The result of reading the file. Undefined if the file has a problem. */
  readonly read: ReadXmlFile | undefined;
  readonly objects: readonly ConfiguredObject[];
  /** The line of each object in the file, by kind and name. */
  readonly lines: ReadonlyMap<string, number>;
  readonly users: readonly KeptUser[];
  /** Whether a user has GeoWebCache's default password. */
  readonly hasDefaultPassword: boolean;
  /** The quota of the file. Undefined without a valid file: GeoWebCache then has a quota that is not enabled. */
  readonly quota: QuotaConfiguration | undefined;
  readonly problems: readonly ConfigurationProblem[];
  readonly warnings: readonly string[];
}

/** The key of an object in `lines`. */
export const lineKey = ({ kind, name }: Pick<ConfiguredObject, "kind" | "name">): string => `${kind} ${name}`;

/** Reads a directory of GeoWebCache. Makes GeoWebCache's default files in a directory without a `geowebcache.xml`. */
export async function readDirectory(
  directory: string,
  cwd: string,
  make: "make defaults" | "only read",
): Promise<GeoWebCacheDirectory> {
  const path = resolve(cwd, directory);
  const file = join(path, CONFIGURATION);
  const warnings: string[] = [];
  const failed = (at: string, message: string): GeoWebCacheDirectory => ({
    path,
    file,
    read: undefined,
    objects: [],
    lines: new Map(),
    users: [],
    hasDefaultPassword: false,
    quota: undefined,
    problems: [{ file: at, path: "", message }],
    warnings,
  });
  if (make === "make defaults") {
    const made = await makeDefaultFiles(path, file);
    if (!made.ok) return failed(path, made.error);
    warnings.push(...made.value);
  }
  let bytes: Buffer;
  try {
    bytes = await readWholeFile(file);
  } catch (error) {
    return failed(file, `the file cannot be read: ${fileFault(error)}`);
  }
  const { names, read } = await readWithNames(bytes, cwd);
  if (!read.ok) return failed(file, refusalMessage(read.error));
  const { objects, notes } = read.value;
  const layers = new Set(objects.flatMap(({ kind, name }) => (kind === "layer" ? [name] : [])));
  const users = await readUsers(path);
  return {
    path,
    file,
    read: { digest: digestOf(bytes), layout: layoutOf(bytes, read.value, names) },
    objects: inForce(objects),
    lines: new Map(objects.map((object) => [lineKey(object), object.line])),
    users: users.users,
    hasDefaultPassword: users.hasDefaultPassword,
    quota: await readQuota(join(path, QUOTA), layers, warnings),
    problems: [],
    warnings: [...warnings, ...notes.map((note) => `${file}: ${note}`), ...users.warnings],
  };
}

/** Reads a file. Gives layers without a name the name of their archive. Relative paths of archives start from `cwd`. */
export async function readWithNames(
  bytes: Uint8Array,
  cwd: string,
): Promise<{ readonly names: ArchiveNames; readonly read: Result<FileContent, Refusal> }> {
  const read = readXmlFile(bytes);
  const paths = read.ok ? namelessArchives(read.value) : [];
  const names = new Map<string, Result<string, string>>();
  for (const path of paths) {
    const archive = await inspectArchive(machineClock, { type: "mbtiles", file: resolve(cwd, path) });
    const name = archive.ok ? archive.value.facts.name : undefined;
    const why = archive.ok ? "the metadata of the archive has none" : archive.error;
    names.set(path, name === undefined ? refuse(why) : ok(name));
  }
  return { names, read: names.size === 0 ? read : readXmlFile(bytes, names) };
}

async function readQuota(
  file: string,
  layers: ReadonlySet<string>,
  warnings: string[],
): Promise<QuotaConfiguration | undefined> {
  let bytes: Buffer;
  try {
    bytes = await readWholeFile(file);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") warnings.push(`${file} cannot be read: ${fileFault(error)}`);
    return undefined;
  }
  const quota = decodeQuotaFile(bytes);
  if (quota.ok) return withoutUnknown(quota.value, layers);
  warnings.push(`${file}: ${refusalMessage(quota.error)}: the quota is not enabled, as in GeoWebCache`);
  return undefined;
}

/**
 * Returns the quota of a file, including quotas of layers that may not exist. Converts units that the classic interface
 * lacks (PiB, MILLISECONDS) to units that it has.
 */
export function decodeQuotaFile(bytes: Uint8Array): Result<QuotaConfiguration, Refusal> {
  const decoded = decodeQuotaChange(bytes, "xml", { has: () => true }, "geowebcache file");
  return decoded.ok ? ok(applyQuotaChange(DEFAULT_QUOTA, decoded.value.change)) : decoded;
}

/** Returns a quota without quotas of unknown layers, which GeoWebCache leaves out too. */
export const withoutUnknown = (
  quota: QuotaConfiguration,
  layers: Pick<ReadonlySet<string>, "has">,
): QuotaConfiguration => ({ ...quota, layerQuotas: quota.layerQuotas.filter(({ layer }) => layers.has(layer)) });
