import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import { type TestServer, usage } from "./server.ts";
import { scanStore } from "./store-scan.ts";

/** Expects the reported usage to equal the store's tiles and bytes exactly. */
export async function expectExact(server: TestServer): Promise<void> {
  // The other tiles of a metatile follow the answer to the user who missed one.
  await expect
    .poll(async () => {
      const { tiles, bytes } = scanStore(server.dataDir);
      return { told: (await usage(server)).total, found: { tiles, bytes } };
    })
    .toSatisfy(({ told, found }) => isDeepStrictEqual(told, found));
}
