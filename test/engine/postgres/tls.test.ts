import { chmodSync, chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { machineDisk } from "../../../src/lib/file/machine-disk.ts";
import { StateError } from "../../../src/state/data-directory.ts";
import { openPostgres } from "../../../src/state/postgres/postgres-database.ts";
import { parsePostgresUrl } from "../../../src/state/postgres/postgres-url.ts";
import { AUTHORITY, CLIENT_CERTIFICATE, SERVER_CERTIFICATE } from "../../support/network/certificates.ts";
import { hasPostgres, removePostgres, startPostgres } from "../../support/postgres/postgres.ts";
import { POSTGRES_THREAD } from "../../support/postgres/test-database.ts";

const PASSWORD = "4711-of-the-file";
const directory = mkdtempSync(join(tmpdir(), "nuthatch-tls-"));
const cluster = `${directory}-server`;
let port = 0;

const file = (name: string, text: string, mode = 0o600): string => {
  const path = join(directory, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
};

/** A port that was free a moment ago: PostgreSQL cannot choose one itself. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port: free }: Partial<AddressInfo> = Object(server.address());
  await new Promise((resolve) => server.close(resolve));
  return free ?? 0;
}

/**
 * Only connections with TLS are allowed: connections of `guarded` with a password, and connections to the database
 * `certified` with a certificate.
 */
beforeAll(async () => {
  if (!hasPostgres) return;
  const postgres = startPostgres(cluster);
  postgres.sql("CREATE DATABASE certified");
  postgres.sql(`CREATE ROLE guarded LOGIN PASSWORD '${PASSWORD}'`);
  postgres.sql("CREATE DATABASE passwords OWNER guarded");
  for (const line of [
    "host all all all reject",
    "hostssl all nuthatch all trust",
    "hostssl all guarded all scram-sha-256",
    "hostssl certified nuthatch all cert",
  ])
    postgres.allow(line);
  const data = join(cluster, "data");
  const { uid, gid } = statSync(data);
  for (const [name, text] of [
    ["server.crt", SERVER_CERTIFICATE.cert],
    ["server.key", SERVER_CERTIFICATE.key],
    ["root.crt", AUTHORITY],
  ] as const) {
    writeFileSync(join(data, name), text, { mode: 0o600 });
    chownSync(join(data, name), uid, gid);
  }
  postgres.stop("fast");
  port = await freePort();
  postgres.start(`-c ssl=on -c ssl_ca_file=root.crt -c listen_addresses=127.0.0.1,127.0.0.2 -c port=${port}`);
  file("root.crt", AUTHORITY);
  file("other.crt", CLIENT_CERTIFICATE.cert);
  file("client.crt", CLIENT_CERTIFICATE.cert);
  file("client.key", CLIENT_CERTIFICATE.key);
});
afterAll(() => {
  removePostgres(cluster);
  rmSync(directory, { recursive: true, force: true });
});
afterEach(() => {
  delete process.env["PGPASSFILE"];
});

/** Connects, and returns whether the connection is encrypted, or why there is none. */
function connected(query: string, { account = "nuthatch", host = "127.0.0.1", database = "postgres" } = {}): string {
  const target = parsePostgresUrl(
    `postgres://${account}@${host}:${port}/${database}?${query.replaceAll("DIR", encodeURIComponent(directory))}`,
    machineDisk,
  );
  if (!target.ok) return target.error;
  const db = openPostgres(target.value, { thread: POSTGRES_THREAD, diverged: () => {} });
  try {
    db.connect();
    return db.prepare("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").get()?.["ssl"] === 1
      ? "TLS"
      : "plain";
  } catch (error) {
    if (!(error instanceof StateError)) throw error;
    return `${error.code}: ${error.message}`;
  } finally {
    db.close();
  }
}

test.skipIf(!hasPostgres)(
  "TLS is used as libpq means sslmode, and a certificate is accepted only of the server",
  () => {
    const root = "sslrootcert=DIR/root.crt";
    expect(connected(`sslmode=verify-full&${root}`)).toBe("TLS");
    expect(connected(root, { host: "localhost" })).toBe("TLS");
    expect(connected(`sslmode=verify-ca&${root}`, { host: "127.0.0.2" })).toBe("TLS");
    expect(connected("sslmode=require", { host: "127.0.0.2" })).toBe("TLS");
    // A refusal that the operator has to mend: the server does not try again.
    const unaccepted = /^misconfigured: .*its certificate is not accepted/;
    expect(connected(`sslmode=verify-full&${root}`, { host: "127.0.0.2" })).toMatch(unaccepted);
    expect(connected("sslmode=verify-full&sslrootcert=DIR/other.crt")).toMatch(unaccepted);
    expect(connected("sslmode=require&sslrootcert=DIR/other.crt")).toMatch(unaccepted);
    expect(connected("sslmode=verify-full")).toMatch(unaccepted);
    expect(connected("sslmode=verify-full&sslrootcert=DIR/none.crt")).toMatch(/^misconfigured: .*none\.crt/);
    expect(connected("sslmode=disable")).toMatch(/^misconfigured: .*pg_hba\.conf/);
  },
);

test.skipIf(!hasPostgres)("a certificate of the client is an account", () => {
  const root = "sslmode=verify-full&sslrootcert=DIR/root.crt";
  const certified = { database: "certified" };
  expect(connected(`${root}&sslcert=DIR/client.crt&sslkey=DIR/client.key`, certified)).toBe("TLS");
  expect(connected(root, certified)).toMatch(/^misconfigured: .*certificate/);
});

test.skipIf(!hasPostgres)("the password is found in the password file, which others may not read", () => {
  const root = "sslmode=verify-full&sslrootcert=DIR/root.crt";
  const guarded = { account: "guarded", database: "passwords" };
  const line = (password: string): string => `127.0.0.1:${port}:passwords:guarded:${password}\n`;
  process.env["PGPASSFILE"] = file("pgpass", `other:*:*:*:x\n${line(PASSWORD)}`);
  expect(connected(root, guarded)).toBe("TLS");
  process.env["PGPASSFILE"] = file("wrong", line("another"));
  expect(connected(root, guarded)).toMatch(/^misconfigured: .*password authentication failed/);
  process.env["PGPASSFILE"] = file("open", line(PASSWORD), 0o644);
  expect(connected(root, guarded)).toMatch(/^misconfigured: .*requires a password/);
});
