import { homedir } from "node:os";
import { join } from "node:path";
import { codeOf } from "../../lib/error-code.ts";
import type { Disk } from "../../lib/file/disk.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";

/** The connection parameters of a service by libpq's names, such as `host` and `dbname`. */
export type Service = ReadonlyMap<string, string>;

/**
 * Keys that have no effect on this server, or that it sets itself. Other programs that share the file may need them.
 */
const IGNORED: ReadonlySet<string> = new Set([
  "application_name",
  "fallback_application_name",
  "client_encoding",
  "connect_timeout",
  "keepalives",
  "keepalives_idle",
  "keepalives_interval",
  "keepalives_count",
]);

/** Debian's directory for files that all accounts of a machine share. */
const SYSTEM_DIRECTORY = "/etc/postgresql-common";

/**
 * Finds a service where libpq looks for it: first in the file of the account (`PGSERVICEFILE`, else
 * `~/.pg_service.conf`), then in the file of the machine. Messages show no value of the file, because it may contain a
 * password.
 */
export function findService(
  name: string,
  disk: Pick<Disk, "readFileSync">,
  env: Readonly<NodeJS.ProcessEnv>,
): Result<Service, string> {
  const own = env["PGSERVICEFILE"];
  const files = [
    own ?? join(env["HOME"] ?? homedir(), ".pg_service.conf"),
    join(env["PGSYSCONFDIR"] ?? SYSTEM_DIRECTORY, "pg_service.conf"),
  ];
  for (const file of files) {
    const text = readText(file, disk);
    if (!text.ok) {
      if (text.error === "ENOENT" && file !== own) continue;
      return refuse(`the service file ${file} cannot be read (${text.error})`);
    }
    const found = parseService(text.value, name);
    if (!found.ok) return refuse(`the service file ${file}, ${found.error}`);
    if (found.value !== undefined) return ok(found.value);
  }
  return refuse(
    `the service ${JSON.stringify(name)} is not defined: expected a section of that name in ${files.join(" or ")}`,
  );
}

function readText(file: string, disk: Pick<Disk, "readFileSync">): Result<string, string> {
  try {
    return ok(disk.readFileSync(file, "utf8"));
  } catch (error) {
    return refuse(codeOf(error) || String(error));
  }
}

/**
 * Parses a section of a service file. If the file repeats a key or a section, the first one counts. Undefined if the
 * file does not have the section.
 */
export function parseService(text: string, name: string): Result<Service | undefined, string> {
  let found: Map<string, string> | undefined;
  for (const [n, untrimmed] of text.split("\n").entries()) {
    const line = untrimmed.trim();
    if (line === "" || line.startsWith("#")) continue;
    if (line.startsWith("[")) {
      if (found !== undefined) break;
      if (line.startsWith(`[${name}]`)) found = new Map();
      continue;
    }
    if (found === undefined) continue;
    const where = `line ${n + 1}`;
    if (/^ldaps?:/.test(line)) return refuse(`${where}: services of LDAP are not supported`);
    const equals = line.indexOf("=");
    if (equals < 1) return refuse(`${where}: expected key=value`);
    const key = line.slice(0, equals);
    if (key === "service") return refuse(`${where}: a service cannot name another one`);
    if (!IGNORED.has(key) && !found.has(key)) found.set(key, line.slice(equals + 1));
  }
  return ok(found);
}
