import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { thisMachine } from "../../../src/lib/this-machine.ts";
import { nameIn } from "../../../src/store/remote/internal/generations.ts";
import { NAMES_KEY, parseLevel } from "../../../src/store/remote/internal/keys.ts";
import { parseGenerations } from "../../../src/store/remote/internal/names.ts";
import { OWN_KEYS } from "../../../src/store/remote/remote-options.ts";
import { createRemoteStore } from "../../../src/store/remote/remote-store.ts";
import { S3Client } from "../../../src/store/s3/s3-client.ts";
import type { S3Options, S3StoreConfiguration } from "../../../src/store/s3/s3-options.ts";

const THREAD = new URL("../../../dist/bridge-thread.cjs", import.meta.url);

export interface BucketScan {
  /** The tiles that readers can see, and their bytes. */
  readonly tiles: number;
  readonly bytes: number;
  /** Their keys. */
  readonly keys: readonly string[];
  /** Keys of tiles that no reader can see: truncated tiles, also tiles that are kept for an undo. */
  readonly unreadable: readonly string[];
}

/**
 * Counts the tiles of a store in S3, or of one layer, by listing the bucket. The reported usage must equal the counts.
 */
export async function scanBucket(options: S3Options, layer?: string): Promise<BucketScan> {
  await using client = new S3Client(options, thisMachine);
  const document = await client.get(NAMES_KEY);
  const { names } = parseGenerations(
    document === undefined
      ? '{"version":1,"names":[],"asides":[],"retired":[]}'
      : Buffer.from(document.body).toString("utf8"),
  );
  const nameOf = nameIn(names);
  const scan = { tiles: 0, bytes: 0, keys: [] as string[], unreadable: [] as string[] };
  for await (const { objects } of client.list({ prefix: layer === undefined ? "" : `${layer}/` })) {
    for (const { key, bytes } of objects) {
      if (key.startsWith(`${OWN_KEYS}/`)) continue;
      const level = parseLevel(key.split("/", 1)[0] ?? "", key);
      if (level === undefined) continue;
      if (nameOf(level.layer, level.gridSet, level.parametersId, level.z) !== level.name) scan.unreadable.push(key);
      else {
        scan.tiles++;
        scan.bytes += bytes;
        scan.keys.push(key);
      }
    }
  }
  return scan;
}

/**
 * Deletes the objects that truncations have left, as a server does at once and again an hour later. No server may run.
 */
export async function sweptTwice(options: S3Options & Pick<S3StoreConfiguration, "type">): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-s3-sweep-"));
  const names = { namesFile: join(directory, "names.json"), isOwner: true };
  await using store = createRemoteStore(
    { ...options, ...names },
    (pending) => new S3Client(options, thisMachine, process.env, pending),
    thisMachine,
    THREAD,
  );
  store.asideIds();
  const { signal } = new AbortController();
  await store.sweepRemote(signal);
  const real = Date.now;
  // Puts that were late can have arrived an hour later.
  Date.now = () => real() + 3_700_000;
  try {
    expect(await store.sweepRemote(signal)).toBeUndefined();
  } finally {
    Date.now = real;
    rmSync(directory, { recursive: true });
  }
}
