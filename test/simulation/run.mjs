// Bundles the simulator and runs it: in a bundle, code that is imported later is there at once, so that no simulation
// waits for the machine.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../..", import.meta.url));
// Inside of node_modules, where the packages with machine code are found.
const directory = mkdtempSync(join(root, "node_modules", ".simulator-"));
process.on("exit", () => rmSync(directory, { recursive: true }));
const outfile = join(directory, "simulator.mjs");
await build({
  absWorkingDir: root,
  entryPoints: ["test/simulation/main.ts"],
  outfile,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  sourcemap: "inline",
  logLevel: "warning",
  external: ["libsql", "sharp", "pg-native"],
  banner: {
    js: `import { createRequire as simulatorRequire } from "node:module"; const require = simulatorRequire(${JSON.stringify(join(root, "package.json"))});`,
  },
});
process.env.NUTHATCH_COMMIT ??= execFileSync("git", ["rev-parse", "--short", "HEAD"], {
  cwd: root,
  encoding: "utf8",
}).trim();
// Stack traces are read with a story only: the map of the sources takes half a second.
if (process.argv.includes("--story")) process.setSourceMapsEnabled(true);
await import(outfile);
