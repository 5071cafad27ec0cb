import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { clientOf } from "../../../test/support/run-program.ts";
import { startServer, type TestServer } from "../../../test/support/server.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-netrc-"));
let server: TestServer;
beforeAll(async () => {
  server = await startServer({ env: { NUTHATCH_ADMIN_PASSWORD: "s3cret" } });
});
afterAll(async () => {
  await server.close();
  rmSync(directory, { recursive: true });
});

const run = clientOf(() => server.url);
const status = (env: Readonly<Record<string, string>>, ...args: string[]) => run(["status", ...args], env);
function netrc(name: string, text: string, mode = 0o600): string {
  const path = join(directory, name);
  writeFileSync(path, text, { mode });
  return path;
}
const GOOD = "machine elsewhere login admin password wrong\nmachine 127.0.0.1 login admin password s3cret\n";
const WRONG = "machine 127.0.0.1 login admin password wrong\n";

test("the password is found in the file that NETRC names, or in .netrc at home", async () => {
  const NETRC = netrc("good", GOOD);
  expect(await status({ NETRC })).toMatchObject({ code: 0, stderr: "" });
  expect((await status({ NETRC }, "--user", "admin")).code).toBe(0);
  netrc(".netrc", GOOD);
  expect((await status({ HOME: directory })).code).toBe(0);
  expect((await status({ HOME: directory, NETRC: netrc("wrong", WRONG) })).code).toBe(1);
  const none = await status({});
  expect([none.code, none.stderr]).toEqual([
    1,
    expect.stringMatching(/401 .* \(the request had no password: set NUTHATCH_PASSWORD, or use a netrc/),
  ]);
});

test("the environment wins, and then no file is looked at", async () => {
  const NETRC = netrc("broken", 'machine 127.0.0.1 password "s3cret\n');
  expect(await status({ NETRC, NUTHATCH_PASSWORD: "s3cret" })).toMatchObject({ code: 0, stderr: "" });
  const wrong = await status({ NETRC: netrc("good too", GOOD), NUTHATCH_PASSWORD: "no" });
  expect([wrong.code, wrong.stderr]).toEqual([
    1,
    expect.stringContaining("(sent as admin, with the password of NUTHATCH_PASSWORD)"),
  ]);
});

test("a mistake in the file is reported with its name and line, and ends with 78", async () => {
  const broken = netrc("unended", 'machine 127.0.0.1\n  password "s3cret\n');
  expect(await status({ NETRC: broken })).toEqual({
    code: 78,
    stdout: "",
    stderr: `nuthatch: ${broken}:2: expected another " at the end of the quoted value, on the same line\n`,
  });
  const missing = join(directory, "missing");
  const unread = await status({ NETRC: missing });
  expect([unread.code, unread.stderr]).toEqual([
    78,
    expect.stringContaining(`${missing} cannot be read: there is no such file or directory`),
  ]);
  expect((await status({ NETRC: directory })).code).toBe(78);
  const stranger = await status({ NETRC: netrc("good again", GOOD), NUTHATCH_USER: "ann" });
  expect([stranger.code, stranger.stderr]).toEqual([
    2,
    "nuthatch: the password of ann is expected in NUTHATCH_PASSWORD, or for 127.0.0.1 in a netrc file\n",
  ]);
});

test("a file that others can read is used with a warning; a wrong password is reported by its line, without the password", async () => {
  const open = netrc("open", GOOD, 0o644);
  const warned = await status({ NETRC: open });
  expect([warned.code, warned.stderr]).toEqual([
    0,
    `warning: others can read ${open}, which holds passwords: chmod 600 ${open}\n`,
  ]);
  const NETRC = netrc("bad", `\n${WRONG}`);
  const refused = await status({ NETRC });
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(`the password of ${NETRC}:2)`)]);
  const inAddress = await status({ NETRC }, "--url", server.url.replace("//", "//admin:s3cret@"));
  expect([inAddress.code, inAddress.stderr]).toEqual([2, expect.not.stringContaining("s3cret")]);
});
