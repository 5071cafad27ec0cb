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

/**
 * A thread can be ended from outside without an event in the thread. It therefore writes its code cache after this
 * time.
 */
const THREAD_MS = 2_000;
/** A cache file begins with the CRC-32 of the bytes that follow, because V8 does not detect damage. */
const CHECKSUM_BYTES = 4;

/** A bundle: a function expression in ASCII. `url` stands for `import.meta.url`. */
type Bundle = (require: NodeJS.Require, url: string) => void;

/**
 * The packages with machine code: the beginning of their names, and the package that requires them. `bin/build.mjs`
 * inserts this table.
 */
declare const MACHINE_CODE: Readonly<Record<string, string>>;

/** Returns the `require` of a bundle. It resolves a package with machine code from the package that requires it. */
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

/** Replaces a file atomically: a reader sees the old content or the whole new content. @throws file errors */
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
 * Runs a bundle of this folder with V8's code cache, so that V8 need not parse and compile the bundle again. A process
 * that finds no cache for its Node version writes one when it ends, into `code-cache` in this folder or into the
 * directory that NUTHATCH_CODE_CACHE names. A process that cannot write the cache works the same, but later starts stay
 * slow.
 * @param name the bundle `code/NAME.cjs`
 * @param digest the digest of the bundle: each build has its own cache
 */
export function launch(name: string, digest: string): void {
  const path = join(__dirname, "code", `${name}.cjs`);
  // V8 stores ASCII text outside of its heap, with one byte per character.
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
        // The cache could not be written, so the next start is as slow as this one.
      }
    };
    process.once("exit", write);
    if (!isMainThread) setTimeout(write, THREAD_MS).unref();
  }
  const url = pathToFileURL(join(__dirname, `${name}.cjs`)).href;
  const run: Bundle = script.runInThisContext();
  run(requireOf(url), url);
}
