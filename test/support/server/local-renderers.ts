import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { StoreNewsExchange } from "../../../src/app/process/store-news-exchange.ts";
import { ForkedRenderers, LocalRenderers } from "../../../src/app/server/renderers/local-renderers.ts";
import { silentLog } from "../silent-log.ts";

/** Returns a host of this machine whose renderers run another program, whose text is given. */
export function localRenderersOf(program: string): LocalRenderers {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-renderer-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, "renderer.cjs");
  writeFileSync(path, program);
  const owner = { stores: [], fsync: false, instance: "test", storesUntilMs: 0 };
  return new LocalRenderers(owner, undefined, new StoreNewsExchange(), new ForkedRenderers(silentLog, path));
}
