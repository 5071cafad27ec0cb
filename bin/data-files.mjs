// Copies the files that the program reads into dist/data: its own, and files of large packages, which need not be
// installed.
import { copyFileSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const { resolve } = createRequire(import.meta.url);

/** The names with which `dataFile` (src/lib/process/data-file.ts) is called. */
const FILES = {
  "states.json": () => resolve("us-atlas/states-10m.json"),
  "countries-110m.json": () => resolve("world-atlas/countries-110m.json"),
  // The package exports nothing but its code, so the file is found beside it.
  epsg: () => join(dirname(resolve("mproj")), "../nad/epsg"),
  "default-geowebcache.xml": () =>
    join(import.meta.dirname, "../src/configuration/geowebcache/default-geowebcache.xml"),
};

/** The packages of these files, whose licences belong to the program's. */
export const DATA_PACKAGES = ["us-atlas", "world-atlas", "mproj"];

/** @param outdir an absolute path */
export function copyDataFiles(outdir) {
  mkdirSync(outdir, { recursive: true });
  for (const [name, find] of Object.entries(FILES)) copyFileSync(find(), join(outdir, name));
}
