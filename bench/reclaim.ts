import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { TestServer } from "../test/support/server/server.ts";
import { pause } from "./support/figures.ts";

/** Configuration that reclaims truncated tiles at once instead of keeping them for an undo. */
export const RECLAIM_AT_ONCE = "store: { undoSeconds: 0 }\n";

/** Waits until the server has deleted all truncated tiles. */
export async function reclaimed(server: TestServer): Promise<void> {
  while (readdirSync(join(server.dataDir, "tiles", "_gwc_in_progress_deletes_")).length > 0) await pause(100);
}
