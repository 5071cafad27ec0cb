import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { TestServer } from "../test/support/server.ts";
import { pause } from "./figures.ts";

/** Of a configuration: what a truncation takes away is not kept to be taken back. */
export const RECLAIM_AT_ONCE = "store: { undoSeconds: 0 }\n";

/** Waits until nothing is left of what was truncated. */
export async function reclaimed(server: TestServer): Promise<void> {
  while (readdirSync(join(server.dataDir, "tiles", "_gwc_in_progress_deletes_")).length > 0) await pause(100);
}
