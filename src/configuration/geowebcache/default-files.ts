import { access, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { codeOf } from "../../lib/error-code.ts";
import { fileFault } from "../../lib/file/file-fault.ts";
import { makeDirectory } from "../../lib/file/make-directory.ts";
import { dataFile } from "../../lib/process/data-file.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";

/**
 * Makes GeoWebCache's default `geowebcache.xml` in a directory without one: two grid sets, three sample layers and a
 * store that is not enabled. Returns warnings.
 */
export async function makeDefaultFiles(directory: string, file: string): Promise<Result<readonly string[], string>> {
  try {
    await access(file);
    return ok([]);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") return refuse(`the directory cannot be read: ${fileFault(error)}`);
  }
  try {
    await makeDirectory(directory);
    await writeFile(file, await readFile(defaultFile()), { flag: "wx" });
    await writeFile(join(directory, "users.properties"), DEFAULT_USERS, { flag: "wx", mode: 0o600 });
  } catch (error) {
    // The directory already has a file of users.
    if (codeOf(error) === "EEXIST") return ok([]);
    return refuse(`geowebcache.xml is missing and cannot be made: ${fileFault(error)}`);
  }
  return ok([
    `${file} was missing: GeoWebCache's sample layers have been written there, and its account geowebcache with the password secured in users.properties`,
  ]);
}

/** Returns the path of the file that is copied. */
const defaultFile = (): string =>
  dataFile("default-geowebcache.xml", () => fileURLToPath(new URL("./default-geowebcache.xml", import.meta.url)));

/** The account that GeoWebCache has until an operator changes it. */
export const DEFAULT_ACCOUNT = { name: "geowebcache", password: "secured" } as const;
const DEFAULT_USERS = `${DEFAULT_ACCOUNT.name}=${DEFAULT_ACCOUNT.password},ROLE_ADMINISTRATOR,enabled\n`;
