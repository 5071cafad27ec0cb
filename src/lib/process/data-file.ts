import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * Returns the path of a data file of a package or of the sources. The built program has a copy beside its code
 * (`bin/data-files.mjs`), so that it ships 2 MB instead of packages of 20 MB. `inPackage` returns the path of the file
 * itself, for a run of the sources without a build.
 */
export function dataFile(name: string, inPackage: () => string): string {
  const copy = fileURLToPath(new URL(`./data/${name}`, import.meta.url));
  return existsSync(copy) ? copy : inPackage();
}
