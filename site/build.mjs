// Builds the documentation into a folder of plain files: pages, one style sheet, one script, the text of the search.
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import Eleventy from "@11ty/eleventy";
import { build } from "esbuild";
import { deadLinks } from "./check-links.mjs";
import { configure, sourceOf } from "./eleventy.config.mjs";
import { searchSections } from "./search-index.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const INDEX = "search.json";

/**
 * Builds the site.
 * @param outdir an absolute path; its content is removed @returns the dead links, a sentence each
 */
export async function buildSite(outdir) {
  rmSync(outdir, { recursive: true, force: true });
  const [style, script] = await bundleAssets(outdir);
  const links = new Set();
  const assets = { style, script, index: INDEX };
  const pages = await renderPages(outdir, { assets, repository: repositoryOf(), links });
  writeFileSync(join(outdir, INDEX), JSON.stringify(searchSections(pages)));
  copyFileSync(join(root, "site/icon.svg"), join(outdir, "icon.svg"));
  cpSync(join(root, "docs/images"), join(outdir, "images"), { recursive: true });
  for (const file of links) copyInto(outdir, file, `files/${file}`);
  compress(outdir);
  const names = readdirSync(outdir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return deadLinks(pages, new Set(names.map(({ parentPath, name }) => relative(outdir, join(parentPath, name)))));
}

/** Returns the names of style sheet and script, which change with their content. */
async function bundleAssets(outdir) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ["site/style.css", "site/site.ts"],
    outdir,
    entryNames: "[name]-[hash]",
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    minify: true,
    legalComments: "none",
    logLevel: "warning",
    metafile: true,
  });
  const names = Object.keys(metafile.outputs).map((path) => path.slice(path.lastIndexOf("/") + 1));
  return [".css", ".js"].map((end) => names.find((name) => name.endsWith(end)));
}

/** Writes the pages and their Markdown, and returns the HTML of each page by its address. */
async function renderPages(outdir, options) {
  process.chdir(root);
  const eleventy = new Eleventy("docs", relative(root, outdir), {
    quietMode: true,
    configPath: false,
    config: configure(options),
  });
  eleventy.disableLogger();
  const pages = new Map();
  const sources = new Map();
  for (const { inputPath, url, content } of await eleventy.toJSON()) {
    const address = url.replace(/^\//, "").replace(/(?<=^|\/)$/, "index.html");
    pages.set(address, content);
    if (inputPath.endsWith(".md")) sources.set(sourceOf(inputPath), address.replace(/\.html$/, ".md"));
  }
  for (const [address, html] of pages) write(join(outdir, address), html);
  for (const [source, address] of sources) copyInto(outdir, source, address);
  return pages;
}

/** The address of the repository: NUTHATCH_REPOSITORY, else the address in package.json. */
function repositoryOf() {
  const { repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const address = process.env.NUTHATCH_REPOSITORY ?? repository?.url ?? repository;
  return address?.replace(/^git\+/, "").replace(/(?:\.git|\/)$/, "");
}

function write(path, content) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

function copyInto(outdir, file, address) {
  mkdirSync(dirname(join(outdir, address)), { recursive: true });
  copyFileSync(join(root, file), join(outdir, address));
}

function compress(outdir) {
  for (const entry of readdirSync(outdir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && /\.(?:html|css|js|json|svg|md)$/.test(entry.name))
      writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
  }
}
