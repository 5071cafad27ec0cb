import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConfigurationProblem } from "../configuration/problem.ts";

/** Returns the problems of a configuration's text for a server. `env` has values for its variables. */
export async function problemsOfText(
  text: string,
  env: Readonly<Record<string, string>>,
): Promise<readonly ConfigurationProblem[]> {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-import-"));
  try {
    const config = join(directory, "imported.yaml");
    writeFileSync(config, text, { mode: 0o600 });
    const { loadConfiguration } = await import("../configuration/load.ts");
    // Without this, the data directory would be in the working directory and might be inside a store. The server's is
    // elsewhere.
    const flags = { config, "data-dir": join(directory, "data") };
    const loaded = await loadConfiguration({ env, flags, cwd: process.cwd() });
    return loaded.ok ? [] : loaded.error;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
