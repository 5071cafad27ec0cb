import { expect } from "vitest";
import { type TestServer, usage } from "./server.ts";
import { scanStore } from "./store-scan.ts";

/** Usage is what the store holds, to the byte. */
export async function expectExact(server: TestServer): Promise<void> {
  const { tiles, bytes } = scanStore(server.dataDir);
  expect((await usage(server)).total).toEqual({ tiles, bytes });
}
