import { randomUUID } from "node:crypto";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { hasPostgres, type Postgres, schemaOf, sharedPostgres } from "../../../test/support/postgres/postgres.ts";
import { POSTGRES_THREAD } from "../../../test/support/postgres/test-database.ts";
import { testSeed } from "../../../test/support/test-seed.ts";
import { machineDisk } from "../../lib/file/machine-disk.ts";
import { bytes, int, text } from "../database.ts";
import { numbered } from "./numbered.ts";
import { openPostgres } from "./postgres-database.ts";
import { parsePostgresUrl } from "./postgres-url.ts";

/** Opens a database in a new schema. `through`: the port of a proxy. */
function opened(postgres: Postgres, through?: number) {
  const schema = schemaOf(randomUUID());
  postgres.sql(`CREATE SCHEMA ${schema}`);
  const address =
    through === undefined ? postgres.url("postgres") : `postgres://nuthatch@127.0.0.1:${through}/postgres?`;
  const target = parsePostgresUrl(`${address}&options=-c%20search_path%3D${schema}`, machineDisk);
  if (!target.ok) throw new Error(target.error);
  const faults: string[] = [];
  const db = openPostgres(target.value, { thread: POSTGRES_THREAD, diverged: (reason) => void faults.push(reason) });
  db.connect();
  return { db, faults, schema };
}

/**
 * A proxy in a separate thread, because the thread of the test sleeps while it waits for PostgreSQL. The proxy ends
 * connections at random, before it forwards a request or an answer.
 */
const PROXY = `
const { connect, createServer } = require("node:net");
const { parentPort, workerData: { socket, seed } } = require("node:worker_threads");
let state = seed % 2147483647;
const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
const server = createServer((client) => {
  const behind = connect(socket);
  let passed = 0;
  for (const [from, to] of [[client, behind], [behind, client]]) {
    from.on("error", () => {});
    from.on("close", () => to.destroy());
    from.on("data", (bytes) => (++passed > 24 && random() < 0.06 ? (client.destroy(), behind.end()) : to.write(bytes)));
  }
});
server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
`;

test.skipIf(!hasPostgres)(
  "a transaction is committed if and only if it has returned, wherever the connection ends",
  async () => {
    const postgres = sharedPostgres();
    const proxy = new Worker(PROXY, { eval: true, workerData: { socket: postgres.socket, seed: testSeed() } });
    const port = await new Promise<number>((resolve) => proxy.once("message", resolve));
    const { db, faults, schema } = opened(postgres, port);
    try {
      db.exec("CREATE TABLE done (n BIGINT PRIMARY KEY, half BIGINT)");
      const returned: number[] = [];
      let undone = 0;
      for (let n = 0; n < 150; n++) {
        try {
          db.transaction(() => {
            db.onRollback(() => undone++);
            db.prepare("INSERT INTO done VALUES (?, ?)").run(n, 1);
            // Every second transaction is sent in two parts.
            if (n % 2 === 0) db.prepare("SELECT count(*) AS n FROM done").get();
            db.prepare("UPDATE done SET half = 2 WHERE n = ?").run(n);
          });
          returned.push(n);
        } catch {
          // The whole transaction has failed.
        }
      }
      const rows = postgres.sql(`SELECT n || ' ' || half FROM ${schema}.done ORDER BY n`).split("\n");
      expect(rows).toEqual(returned.map((n) => `${n} 2`));
      expect(undone).toBe(150 - returned.length);
      expect(faults).toEqual([]);
      expect(returned.length).toBeGreaterThan(75);
    } finally {
      db.close();
      await proxy.terminate();
    }
  },
);

test.skipIf(!hasPostgres)("values come back as they were, and changes are counted", () => {
  const { db } = opened(sharedPostgres());
  db.createTables(["CREATE TABLE v (id INTEGER PRIMARY KEY, n INTEGER, r REAL, t TEXT, b BLOB)"]);
  const insert = db.prepare("INSERT INTO v (n, r, t, b) VALUES (?, ?, ?, ?) RETURNING id");
  const blob = Uint8Array.from({ length: 300 }, (_, n) => n);
  db.transaction(() => {
    expect(int(insert.get(2n ** 62n, Number.NEGATIVE_INFINITY, "a\0b", blob) ?? {}, "id")).toBe(1);
    insert.get(-7, 0.1, null, null);
    const changed = db.prepare("UPDATE v SET n = n + 1 WHERE n < ?").run(0);
    expect(changed.changes).toBe(1);
  });
  const [first = {}, second = {}] = db.prepare("SELECT * FROM v ORDER BY id").all();
  expect([first["n"], first["r"], text(first, "t"), bytes(first, "b")]).toEqual([
    2n ** 62n,
    Number.NEGATIVE_INFINITY,
    "a\uFFFDb",
    blob,
  ]);
  expect([second["n"], second["r"], second["t"], second["b"]]).toEqual([-6, 0.1, null, null]);
  expect(() => db.transaction(() => db.prepare("INSERT INTO v (id) VALUES (?)").run(1))).toThrow("duplicate key");
  expect(db.prepare("SELECT count(*) AS n FROM v").get()).toEqual({ n: 2 });
  db.close();
});

test("values are numbered outside of texts and names, and an address is parsed or refused without being shown", () => {
  expect(numbered(`SELECT '?', "a?" FROM t WHERE x = ? AND y IN (?, ?)`)).toBe(
    `SELECT '?', "a?" FROM t WHERE x = $1 AND y IN ($2, $3)`,
  );
  expect(parsePostgresUrl("postgres://a:p%40ss@[::1]/tiles?sslmode=require", machineDisk)).toMatchObject({
    ok: true,
    value: { name: "[::1]:5432/tiles", user: "a", password: "p@ss", host: "::1", sslMode: "require" },
  });
  for (const wrong of [
    "http://a",
    "postgres://u:secret@h",
    "postgres://u:secret@h/d?sslmode=prefer",
    "postgres://u:secret@h/d?passfile=x",
  ]) {
    const parsed = parsePostgresUrl(wrong, machineDisk);
    expect(parsed.ok ? "" : parsed.error, wrong).toMatch(/expected/);
    expect(JSON.stringify(parsed)).not.toContain("secret");
  }
});

test.skipIf(!hasPostgres)("a database without an encoding, as initdb makes it for the locale C, keeps any text", () => {
  const postgres = sharedPostgres();
  const name = schemaOf(randomUUID());
  postgres.sql(`CREATE DATABASE ${name} ENCODING 'SQL_ASCII' TEMPLATE template0`);
  const target = parsePostgresUrl(postgres.url(name), machineDisk);
  if (!target.ok) throw new Error(target.error);
  const db = openPostgres(target.value, { thread: POSTGRES_THREAD, diverged: () => {} });
  try {
    db.connect();
    db.exec("CREATE TABLE kept (words TEXT)");
    db.prepare("INSERT INTO kept VALUES (?)").run("Straße, 東京 🐦");
    expect(db.prepare("SELECT words FROM kept").all()).toEqual([{ words: "Straße, 東京 🐦" }]);
  } finally {
    db.close();
  }
});
