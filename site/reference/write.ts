import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { referencePages } from "./pages.ts";

// `npm run reference`: writes the generated pages. A test compares them with the sources.
const root = fileURLToPath(new URL("../..", import.meta.url));
const files = [...(await referencePages())].map(([name, text]) => ({ path: `${root}${name}`, text }));
for (const { path, text } of files) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
const { status } = spawnSync("npx", ["biome", "format", "--write", ...files.map(({ path }) => path)], {
  cwd: root,
  stdio: "inherit",
});
process.exitCode = status ?? 1;
