import { randomUUID } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Script } from "node:vm";
import { isMainThread } from "node:worker_threads";
import { crc32 } from "node:zlib";

/** A thread may be ended from outside, without an event of its own. It writes its code cache when it has run this long. */
const THREAD_MS = 2_000;
/** A file of the cache begins with the CRC-32 of the rest: V8 does not notice damage. */
const CHECKSUM_BYTES = 4;

/** A bundle: a function expression in ASCII. `url` stands for `import.meta.url`. */
type Bundle = (require: NodeJS.Require, url: string) => void;

/** Packages with machine code: the beginning of their names, and the package that needs them. `bin/build.mjs` puts it in. */
declare const MACHINE_CODE: Readonly<Record<string, string>>;

/** Returns the `require` of a bundle. A package with machine code is looked for at the place of the package that needs it. */
function requireOf(url: string): NodeJS.Require {
  const require = createRequire(url);
  const load = (id: string): unknown => {
    const owner = Object.entries(MACHINE_CODE).find(([beginning]) => id.startsWith(beginning))?.[1];
    return owner === undefined ? require(id) : createRequire(require.resolve(owner))(id);
  };
  return Object.assign(load, require);
}

/** Returns the code cache in a file, or `undefined` if it is missing or damaged. */
function readCache(path: string): Buffer | undefined {
  let file: Buffer;
  try {
    file = readFileSync(path);
  } catch {
    return undefined;
  }
  if (file.length < CHECKSUM_BYTES) return undefined;
  const cache = file.subarray(CHECKSUM_BYTES);
  return file.readUInt32LE(0) === crc32(cache) ? cache : undefined;
}

/** Writes a file of which a reader sees all or nothing. @throws file errors */
function writeCache(folder: string, name: string, cache: Buffer): void {
  mkdirSync(folder, { recursive: true });
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32LE(crc32(cache));
  const path = join(folder, `.${name}-${randomUUID()}`);
  try {
    const file = openSync(path, "wx");
    try {
      for (const part of [checksum, cache]) for (let at = 0; at < part.length; ) at += writeSync(file, part, at);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(path, join(folder, name));
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
}

/**
 * Runs a bundle of this folder with V8's code cache, so that V8 does not parse and compile again what it compiled before. A
 * process that finds no cache for its Node writes one when it ends: into `code-cache` in this folder, or into the
 * directory that NUTHATCH_CODE_CACHE names. Where it may not write, a start takes longer and works the same.
 * @param name the bundle `code/NAME.cjs`
 * @param digest of the bundle: another build has another cache
 */
export function launch(name: string, digest: string): void {
  const path = join(__dirname, "code", `${name}.cjs`);
  // Of ASCII text V8 keeps one byte a character, outside of its heap.
  const source = readFileSync(path, "latin1");
  const folder = process.env["NUTHATCH_CODE_CACHE"] || join(__dirname, "code-cache");
  // V8 refuses a cache that was written with other flags.
  const flags = crc32([process.env["NODE_OPTIONS"] ?? "", ...process.execArgv].join("\n")).toString(36);
  const prefix = `${name}-${digest}-`;
  const file = `${prefix}${process.version}-${process.arch}-${flags}.cache`;
  const cachedData = readCache(join(folder, file));
  const script = new Script(source, { filename: path, ...(cachedData !== undefined && { cachedData }) });
  if (cachedData === undefined || script.cachedDataRejected === true) {
    const write = (): void => {
      process.off("exit", write);
      try {
        writeCache(folder, file, script.createCachedData());
        for (const other of readdirSync(folder))
          if (other.startsWith(`${name}-`) && !other.startsWith(prefix)) rmSync(join(folder, other), { force: true });
      } catch {
        // The next start is as slow as this one.
      }
    };
    process.once("exit", write);
    if (!isMainThread) setTimeout(write, THREAD_MS).unref();
  }
  const url = pathToFileURL(join(__dirname, `${name}.cjs`)).href;
  const run: Bundle = script.runInThisContext();
  run(requireOf(url), url);
}
