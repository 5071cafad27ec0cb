import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { makeDefaultFiles } from "./default-files.ts";

const root = mkdtempSync(join(tmpdir(), "nuthatch-default-files-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test("geowebcache.xml is made after the account beside it, whole or not at all, and the next start completes both", async () => {
  const directory = join(root, "new");
  const file = join(directory, "geowebcache.xml");
  const users = join(directory, "users.properties");
  mkdirSync(`${file}.new`, { recursive: true });
  const interrupted = await makeDefaultFiles(directory, file);
  expect([interrupted.ok, existsSync(file), readFileSync(users, "utf8")]).toEqual([
    false,
    false,
    "geowebcache=secured,ROLE_ADMINISTRATOR,enabled\n",
  ]);
  rmdirSync(`${file}.new`);
  expect((await makeDefaultFiles(directory, file)).ok).toBe(true);
  expect(readFileSync(file, "utf8")).toMatch(/<\/gwcConfiguration>\s*$/);
  expect(readdirSync(directory).sort()).toEqual(["geowebcache.xml", "users.properties"]);
});

test("files that are there are not changed", async () => {
  const directory = join(root, "old");
  mkdirSync(directory);
  writeFileSync(join(directory, "users.properties"), "own");
  const file = join(directory, "geowebcache.xml");
  const made = await makeDefaultFiles(directory, file);
  expect(made).toEqual({ ok: true, value: [] });
  writeFileSync(file, "own");
  await makeDefaultFiles(directory, file);
  expect(["geowebcache.xml", "users.properties"].map((name) => readFileSync(join(directory, name), "utf8"))).toEqual([
    "own",
    "own",
  ]);
});
