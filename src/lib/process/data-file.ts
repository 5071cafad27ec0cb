import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * Returns the path of a file with data of a package. The built program has a copy beside its code (`bin/data-files.mjs`),
 * so that it needs 2 MB of packages that take 20. `inPackage` finds the file in the package: sources run without a build.
 */
export function dataFile(name: string, inPackage: () => string): string {
  const copy = fileURLToPath(new URL(`./data/${name}`, import.meta.url));
  return existsSync(copy) ? copy : inPackage();
}
