import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { machineDisk } from "../../lib/file/machine-disk.ts";
import { parsePostgresUrl } from "./postgres-url.ts";
import { findService, parseService } from "./service-file.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-service-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const FILE = `# all databases
[other]
host=elsewhere

[tiles]
  host=db.example.org
port=5433
dbname=nuthatch
user=tiles
password=se=cret
host=second.example.org
application_name=psql
sslmode=require

[tiles]
host=third.example.org
`;
writeFileSync(join(directory, "services"), FILE);
const env = { PGSERVICEFILE: join(directory, "services"), PGSYSCONFDIR: directory, HOME: directory };

test("a section of a service file is read as libpq reads it", () => {
  const found = parseService(FILE, "tiles");
  expect(found.ok && Object.fromEntries(found.value ?? [])).toEqual({
    host: "db.example.org",
    port: "5433",
    dbname: "nuthatch",
    user: "tiles",
    password: "se=cret",
    sslmode: "require",
  });
  expect(parseService(FILE, "til")).toEqual({ ok: true, value: undefined });
});

test.each([
  ["[a]\nhost", "line 2: expected key=value"],
  ["[a]\nservice=b", "line 2: a service cannot name another one"],
  ["[a]\nldap://h/dc", "line 2: services of LDAP are not supported"],
])("a section that cannot be used is refused with its line: %j", (text, error) => {
  expect(parseService(text, "a")).toEqual({ ok: false, error });
});

test("a service supplies what an address leaves out, by its name in the address or in PGSERVICE", () => {
  const expected = {
    name: "db.example.org:5433/nuthatch",
    host: "db.example.org",
    port: 5433,
    user: "tiles",
    password: "se=cret",
    database: "nuthatch",
    sslMode: "require",
  };
  expect(parsePostgresUrl("postgres://?service=tiles", machineDisk, env)).toMatchObject({ ok: true, value: expected });
  expect(parsePostgresUrl("postgres:///", machineDisk, { ...env, PGSERVICE: "tiles" })).toMatchObject({
    ok: true,
    value: expected,
  });
  expect(
    parsePostgresUrl("postgres://me@h:1/d?sslmode=disable", machineDisk, { ...env, PGSERVICE: "tiles" }),
  ).toMatchObject({
    ok: true,
    value: { name: "h:1/d", user: "me", password: "se=cret", sslMode: "disable" },
  });
  expect(parsePostgresUrl("postgres:///d?host=/run/socket", machineDisk, { ...env, PGSERVICE: "tiles" })).toMatchObject(
    {
      ok: true,
      value: { host: "/run/socket", port: 5433, database: "d" },
    },
  );
});

test("the file of the machine is read when that of the account does not have the service", () => {
  writeFileSync(join(directory, "pg_service.conf"), "[shared]\ndbname=d\n");
  const found = findService("shared", machineDisk, env);
  expect(found.ok && [...found.value]).toEqual([["dbname", "d"]]);
});

test("a service that is not there or cannot be used is refused, and no value of the file is shown", () => {
  const refused = (name: string, more = {}): string => {
    const parsed = parsePostgresUrl(`postgres://?service=${name}`, machineDisk, { ...env, ...more });
    return parsed.ok ? "" : parsed.error;
  };
  expect(refused("none")).toMatch(/^the service "none" is not defined: expected a section of that name in /);
  expect(refused("tiles", { PGSERVICEFILE: join(directory, "absent") })).toMatch(/absent cannot be read \(ENOENT\)$/);
  writeFileSync(
    join(directory, "odd"),
    "[a]\npassword=secret\ngssencmode=disable\n[b]\ndbname=d\nsslmode=prefer\n[c]\ndbname=d\nport=none\n[d]\nhost=h\n",
  );
  const odd = { PGSERVICEFILE: join(directory, "odd") };
  expect(refused("a", odd)).toMatch(/^the key "gssencmode" of the service "a" is not known: expected host, /);
  expect(refused("b", odd)).toMatch(/^sslmode: expected disable, /);
  expect(refused("c", odd)).toBe("the port of the service: expected 1 to 65535");
  expect(refused("d", odd)).toBe("expected the name of a database at the end of the address");
});
