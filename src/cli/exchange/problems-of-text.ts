import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConfigurationProblem } from "../../configuration/problem.ts";

/** Returns the problems of a configuration that was written for a server. `env`: values in place of its variables. */
export async function problemsOfText(
  text: string,
  env: Readonly<Record<string, string>>,
): Promise<readonly ConfigurationProblem[]> {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-import-"));
  try {
    const config = join(directory, "imported.yaml");
    writeFileSync(config, text, { mode: 0o600 });
    const { loadConfiguration } = await import("../../configuration/load.ts");
    // The text names no data directory: one in the working directory may lie in a store, the server's lies elsewhere.
    const flags = { config, "data-dir": join(directory, "data") };
    const loaded = await loadConfiguration({ env, flags, cwd: process.cwd() });
    return loaded.ok ? [] : loaded.error;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
