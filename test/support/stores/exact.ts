import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import { scanBucket } from "../s3/bucket-scan.ts";
import { prefixOf, S3_OF_ALL } from "../s3/env.ts";
import { optionsFor } from "../s3/server.ts";
import { type TestServer, usage } from "../server/server.ts";
import { until } from "../until.ts";
import { scanStore } from "./store-scan.ts";

/** Counts the tiles of a server's store, wherever it is. */
export async function scanTiles(
  dataDir: string,
): Promise<{ readonly tiles: number; readonly bytes: number; readonly bytesOnDisk: number }> {
  if (S3_OF_ALL === undefined) return scanStore(dataDir);
  const { tiles, bytes } = await scanBucket(optionsFor(S3_OF_ALL)(prefixOf(dataDir)));
  return { tiles, bytes, bytesOnDisk: bytes };
}

/**
 * Waits until the reported usage equals the store's tiles, their bytes, and their blocks on the disk exactly: the other
 * tiles of a metatile follow the answer to the user who missed one.
 */
export async function expectExact(server: TestServer): Promise<void> {
  const { reported, found } = await until(
    "the reported usage equals the tiles in the store",
    async () => {
      const { tiles, bytes, bytesOnDisk } = await scanTiles(server.dataDir);
      const { total, bytesOnDisk: reportedOnDisk } = await usage(server);
      const looked = { reported: { ...total, bytesOnDisk: reportedOnDisk }, found: { tiles, bytes, bytesOnDisk } };
      return isDeepStrictEqual(looked.reported, looked.found) ? looked : undefined;
    },
    60_000,
    server,
  );
  expect(reported).toEqual(found);
}
