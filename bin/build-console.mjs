// Builds the console and the pages of /ogc (ui/) into dist/ui: every name holds a hash of the content, and every file has a compressed twin.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

/** Replaces the table of the fields of a job by its data, so that the console has no code of the server. */
const jobFields = {
  name: "job-fields",
  setup({ onLoad }) {
    onLoad({ filter: /[/\\]src[/\\]plan[/\\]job[/\\]job-fields\.ts$/ }, async ({ path }) => {
      const { outputFiles } = await build({ entryPoints: [path], bundle: true, format: "esm", write: false });
      const { clientFields } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
      return { contents: `export const clientFields = () => ${JSON.stringify(clientFields())};` };
    });
  },
};

/**
 * @param root the folder of the package
 * @param outdir relative to `root`
 * @returns which files went into it
 */
export async function buildConsole(root, outdir) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [
      { in: "ui/main.tsx", out: "console" },
      { in: "ui/style.css", out: "console" },
      { in: "ui/pages/ogc-page.ts", out: "ogc-page" },
      { in: "ui/pages/ogc-page.css", out: "ogc-page" },
    ],
    outdir,
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    minify: true,
    legalComments: "none",
    tsconfig: "ui/tsconfig.json",
    plugins: [jobFields],
    logLevel: "warning",
    metafile: true,
  });
  const folder = join(root, outdir);
  for (const name of readdirSync(folder))
    writeFileSync(join(folder, `${name}.gz`), gzipSync(readFileSync(join(folder, name)), { level: 9 }));
  return metafile;
}
