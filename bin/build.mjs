// Builds the program: each of its processes and threads starts from one file, with a code cache.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { buildConsole } from "./build-console.mjs";
import { copyDataFiles, DATA_PACKAGES } from "./data-files.mjs";
import { ENTRY_POINTS, LAUNCHER } from "./entry-points.mjs";
import { componentsOf, installedFolders, sbomOf } from "./sbom.mjs";
import { folderOf, licencesOf, packagesOf } from "./third-party.mjs";
import { warmCode } from "./warm-code.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const outdir = "dist";

// The documentation has a separate build, which may run at the same time.
const old = fileURLToPath(new URL(`../${outdir}/`, import.meta.url));
for (const name of existsSync(old) ? readdirSync(old) : [])
  if (name !== "docs" && name !== ".docs-built") rmSync(`${old}${name}`, { recursive: true });
/**
 * Packages with machine code stay outside of the bundles: the beginning of their names, and the package that needs
 * them.
 */
const MACHINE_CODE = { "@img/sharp-": "sharp", "@libsql/": "libsql" };
/**
 * Some sources load a package when they need it first, by the `require` of `createRequire`. In a bundle that package is
 * a part which runs at its first use.
 */
const REQUIRE = "const load = createRequire(import.meta.url);";
const bundleRequired = {
  name: "bundle-required",
  setup({ onLoad }) {
    onLoad({ filter: /[/\\]src[/\\].*\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, "utf8");
      if (!source.includes(REQUIRE)) return undefined;
      return { contents: source.replace(REQUIRE, "").replace(/\bload\(/g, "require("), loader: "ts" };
    });
  },
};
const common = {
  absWorkingDir: root,
  outdir,
  bundle: true,
  format: "cjs",
  platform: "node",
  target: "node20.19",
  outExtension: { ".js": ".cjs" },
  // Every process and thread keeps the text of its bundle in memory. Names stay, and lines stay short, for stack
  // traces.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 160,
  logLevel: "warning",
  metafile: true,
};
const builds = await Promise.all([
  build({
    ...common,
    entryPoints: [LAUNCHER],
    entryNames: "[name]",
    define: { MACHINE_CODE: JSON.stringify(MACHINE_CODE) },
  }),
  build({
    ...common,
    entryPoints: ENTRY_POINTS,
    entryNames: "code/[name]",
    sourcemap: true,
    // pg-native is never installed.
    external: [...Object.keys(MACHINE_CODE).map((beginning) => `${beginning}*`), "pg-native"],
    plugins: [bundleRequired],
    // A bundle is a function that the launcher calls. Code that is imported later is required: on Node 20, `import()`
    // fails in code from V8's code cache.
    supported: { "dynamic-import": false },
    define: { "import.meta.url": "bundleUrl" },
    banner: { js: "(function (require, bundleUrl) { const exports = {}; const module = { exports };" },
    footer: { js: "})" },
  }),
]);
/** Returns the statement that runs a bundle. */
const launchOf = (name) => {
  const code = readFileSync(`${root}${outdir}/code/${name}.cjs`);
  const digest = createHash("sha256").update(code).digest("hex").slice(0, 16);
  return `require("./launch.cjs").launch(${JSON.stringify(name)}, ${JSON.stringify(digest)});\n`;
};
for (const name of ENTRY_POINTS.map((entryPoint) => basename(entryPoint, ".ts"))) {
  if (name === "serve") continue;
  // One file is the program with all its commands.
  const text =
    name === "main" ? `if (process.argv[2] === "serve") ${launchOf("serve")}else ${launchOf(name)}` : launchOf(name);
  writeFileSync(`${root}${outdir}/${name}.cjs`, text);
}
const consoleMetafile = await buildConsole(root, `${outdir}/ui`);
copyDataFiles(fileURLToPath(new URL(`../${outdir}/data`, import.meta.url)));
/** Returns the folders of packages whose code other packages have in their bundles, as the source maps tell. */
const bundledByOthers = () =>
  readdirSync(`${root}${outdir}/code`)
    .filter((name) => name.endsWith(".map"))
    .flatMap((name) => JSON.parse(readFileSync(`${root}${outdir}/code/${name}`, "utf8")).sources)
    .flatMap((source) => {
      const [, ...parts] = source.split("node_modules/");
      const [name] = /^(?:@[^/]+\/)?[^/]+/.exec(parts.pop() ?? "") ?? [];
      return name === undefined ? [] : ["", ...parts, name].join("node_modules/");
    });
const packages = [
  ...bundledByOthers(),
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
const read = (name) => JSON.parse(readFileSync(`${root}${name}`, "utf8"));
const lock = read("package-lock.json");
writeFileSync(
  `${root}sbom.cdx.json`,
  sbomOf(read("package.json"), componentsOf(lock, [...packages, ...installedFolders(lock)])),
);
await warmCode();
