import { access, readFile, rename, rm, writeFile } from "node:fs/promises";
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
  const users = join(directory, "users.properties");
  let hadUsers: boolean;
  try {
    if (await isThere(file)) return ok([]);
    hadUsers = await isThere(users);
  } catch (error) {
    return refuse(`the directory cannot be read: ${fileFault(error)}`);
  }
  try {
    await makeDirectory(directory);
    // Before `geowebcache.xml`: a start that is interrupted must not leave that file with no account beside it.
    if (!hadUsers) await writeWhole(users, DEFAULT_USERS, 0o600);
    await writeWhole(file, await readFile(defaultFile()), 0o666);
  } catch (error) {
    return refuse(`geowebcache.xml is missing and cannot be made: ${fileFault(error)}`);
  }
  if (hadUsers) return ok([]);
  return ok([
    `${file} was missing: GeoWebCache's sample layers have been written there, and its account geowebcache with the password secured in users.properties`,
  ]);
}

async function isThere(file: string): Promise<boolean> {
  try {
    await access(file);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

/** Writes a file that is whole as soon as it is there. */
async function writeWhole(file: string, content: Buffer | string, mode: number): Promise<void> {
  const temporary = `${file}.new`;
  try {
    await writeFile(temporary, content, { mode });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Returns the path of the file that is copied. */
const defaultFile = (): string =>
  dataFile("default-geowebcache.xml", () => fileURLToPath(new URL("./default-geowebcache.xml", import.meta.url)));

/** The account that GeoWebCache has until an operator changes it. */
export const DEFAULT_ACCOUNT = { name: "geowebcache", password: "secured" } as const;
const DEFAULT_USERS = `${DEFAULT_ACCOUNT.name}=${DEFAULT_ACCOUNT.password},ROLE_ADMINISTRATOR,enabled\n`;
