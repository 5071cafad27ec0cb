// Builds the program: each of its processes and threads starts from a few files, not from a thousand, in half the time.
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { buildConsole } from "./build-console.mjs";
import { copyDataFiles, DATA_PACKAGES } from "./data-files.mjs";
import { folderOf, licencesOf, packagesOf } from "./third-party.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const outdir = "dist";

// The documentation has a build of its own, which may run at the same time.
const old = fileURLToPath(new URL(`../${outdir}/`, import.meta.url));
for (const name of existsSync(old) ? readdirSync(old) : [])
  if (name !== "docs" && name !== ".docs-built") rmSync(`${old}${name}`, { recursive: true });
/**
 * Groups of entry points. Those of a group share files; what several groups use is built once for each. The coordinator
 * and the renderers are groups of their own, as one group of all would divide their code into three times as many files:
 * a tenth of a start was the search for files.
 */
const GROUPS = [
  [
    "src/cli/main.ts",
    "src/app/check-thread.ts",
    "src/app/load-thread.ts",
    "src/app/http-worker-process.ts",
    "src/app/cluster/lead-process.ts",
  ],
  ["src/app/coordinator-thread.ts", "src/state/postgres/postgres-thread.ts", "src/store/s3/bridge-thread.ts"],
  ["src/app/renderer-process.ts"],
];
const builds = await Promise.all(
  GROUPS.map((entryPoints) =>
    build({
      absWorkingDir: root,
      entryPoints,
      outdir,
      // All side by side, so that each finds the others whatever file its code has come to lie in.
      entryNames: "[name]",
      chunkNames: "[name]-[hash]",
      bundle: true,
      splitting: true,
      format: "esm",
      platform: "node",
      target: "node20.19",
      sourcemap: true,
      // Every process and thread keeps the text of its files in memory. Names stay, and lines stay short, for stack traces.
      minifyWhitespace: true,
      minifySyntax: true,
      lineLimit: 160,
      // They load machine code that lies beside them.
      external: ["libsql", "sharp", "pg-native"],
      // For packages in CommonJS form, which ask Node for its own modules.
      banner: {
        js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
      },
      logLevel: "warning",
      metafile: true,
    }),
  ),
);
const consoleMetafile = await buildConsole(root, `${outdir}/ui`);
copyDataFiles(fileURLToPath(new URL(`../${outdir}/data`, import.meta.url)));
const packages = [
  ...builds.flatMap(({ metafile }) => packagesOf(metafile)),
  ...packagesOf(consoleMetafile),
  ...DATA_PACKAGES.map((name) => folderOf(root, name)),
  // The search of the documentation (site/site.ts).
  folderOf(root, "minisearch"),
];
writeFileSync(
  fileURLToPath(new URL(`../${outdir}/THIRD-PARTY-LICENSES.txt`, import.meta.url)),
  licencesOf(root, packages),
);
