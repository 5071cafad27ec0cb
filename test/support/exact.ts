import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import { type TestServer, usage } from "./server.ts";
import { scanStore } from "./store-scan.ts";

/** Expects the reported usage to equal the store's tiles, their bytes, and their blocks on the disk exactly. */
export async function expectExact(server: TestServer): Promise<void> {
  // The other tiles of a metatile follow the answer to the user who missed one.
  await expect
    .poll(async () => {
      const { tiles, bytes, bytesOnDisk } = scanStore(server.dataDir);
      const { total, bytesOnDisk: toldOnDisk } = await usage(server);
      return { told: { ...total, bytesOnDisk: toldOnDisk }, found: { tiles, bytes, bytesOnDisk } };
    })
    .toSatisfy(({ told, found }) => isDeepStrictEqual(told, found));
}
