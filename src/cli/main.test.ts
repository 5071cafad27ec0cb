import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { parse } from "yaml";
import { runProgram } from "../../test/support/server/run-program.ts";
import { isPasswordHash, verifyPassword } from "../account/password.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-cli-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}, input = "") =>
  runProgram(args, { env, cwd: directory, input });
function file(name: string, text: string): string {
  writeFileSync(join(directory, name), text);
  return name;
}

test("config check ends with 0, also for warnings, with 78 for a bad file, and with 1 for what --online finds", async () => {
  const good = file("good.yaml", 'layers: [{ name: a, source: { type: wms, url: "http://u/" } }]\n');
  const fine = await run(["config", "check", "--config", good]);
  expect(fine).toMatchObject({ code: 0, stderr: "" });
  expect(fine.stdout).toMatch(/good\.yaml is valid: 1 layer/);
  const bad = file("bad.yaml", "server: { prot: 1 }\njobs: 1\n");
  const wrong = await run(["config", "check"], { NUTHATCH_CONFIG: bad });
  expect(wrong).toMatchObject({ code: 78, stdout: "" });
  expect(wrong.stderr).toMatch(/bad\.yaml:1:11: server\.prot: unknown key; did you mean port\?/);
  expect(wrong.stderr).toMatch(/bad\.yaml:2:7: jobs: expected a map/);
  expect(await run(["serve", "--config", bad])).toMatchObject({ code: 78, stdout: "" });
  const doubtful = file("doubtful.yaml", 'layers: [{ name: a/b, source: { type: wms, url: "http://u/" } }]\n');
  const warned = await run(["config", "check", "--config", doubtful]);
  expect(warned).toMatchObject({ code: 0, stdout: expect.stringMatching(/doubtful\.yaml is valid: 1 layer/) });
  expect(warned.stderr).toMatch(/^warning: doubtful\.yaml:1:18: layers\[0\]\.name: "a\/b" has a slash: .*\n$/);
  writeFileSync(join(directory, "latin1.yaml"), Buffer.from("layers: [] # \u00e4\n", "latin1"));
  expect(await run(["config", "check", "--config", "latin1.yaml"])).toMatchObject({
    code: 78,
    stdout: "",
    stderr: expect.stringMatching(/latin1\.yaml:1:1: the file is not UTF-8/),
  });
  // No server listens on port 9 of this machine.
  const dead = file("dead.yaml", 'layers: [{ name: a, source: { type: wms, url: "http://127.0.0.1:9/" } }]\n');
  expect(await run(["config", "check", "--config", dead])).toMatchObject({ code: 0, stderr: "" });
  expect(await run(["config", "check", "--online", "--config", dead])).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/is valid: 1 layer.*\nerror: a \(http:\/\/127\.0\.0\.1:9\): .*start the map server/),
  });
  expect(await run(["config", "check", "--online", "--config", bad])).toMatchObject({ code: 78, stdout: "" });
});

test("config print prints the configuration in force without secrets, and its output is a configuration", async () => {
  const source = `{ type: wms, url: "http://u/", username: me, password: hunter2, vendorParameters: { key: hunter2 } }`;
  const name = file(
    "secret.yaml",
    `users: [{ name: a, password: hunter2, roles: [admin] }]\nlayers: [{ name: a, source: ${source} }]\n`,
  );
  const printed = await run(["config", "print", "--config", name, "--set", "jobs.historyDays=7"]);
  const pinned = file(
    "pinned.yaml",
    'layers: [{ name: a, source: { type: wms, url: "http://u/" } }]\neviction: { minFreeMiB: 3, pins: [{ layer: a, zoomStop: 4 }], floors: [{ layer: a, value: 1, units: KiB }] }\n',
  );
  const first = (await run(["config", "print", "--config", pinned])).stdout;
  expect(parse(first)).toMatchObject({ eviction: { minFreeMiB: 3, floors: [{ layer: "a", value: "1024" }] } });
  expect((await run(["config", "print", "--config", file("twice.yaml", first)])).stdout).toBe(first);
  expect(printed.code).toBe(0);
  expect(printed.stdout + printed.stderr).not.toContain("hunter2");
  expect(printed.stdout).not.toContain("scrypt");
  expect(parse(printed.stdout)).toMatchObject({ jobs: { historyDays: 7 }, layers: [{ name: "a", metatile: [4, 4] }] });
  const demo = await run(["config", "print"]);
  const again = await run(["config", "check", "--config", file("printed.yaml", demo.stdout)]);
  expect(again).toMatchObject({ code: 0 });
  expect(again.stdout).toMatch(/3 layers/);
});

test("an unknown command, flag or value ends with 2, help with 0", async () => {
  const wrong = [
    ["nonsense"],
    ["serve", "--prot", "1"],
    ["config", "check", "--set", "nonsense"],
    ["user", "add", "a:b"],
    ["user", "add", "a", "--role", "king"],
    ["user", "hash"],
  ];
  const codes = await Promise.all(wrong.map(async (args) => [args.join(" "), (await run(args)).code]));
  expect(codes).toEqual(wrong.map((args) => [args.join(" "), 2]));
  const help = await run(["serve", "--help"]);
  expect(help.code).toBe(0);
  expect(help.stdout).toContain("--data-dir");
});

const PIPED = "--password-stdin";
const modeOf = (name: string): number => statSync(join(directory, name)).mode & 0o777;

test("users are added to a file, listed and removed, the password never on the command line", async () => {
  const name = file("users.yaml", "# kept\nlayers: []\n");
  chmodSync(join(directory, name), 0o644);
  const caller = { NUTHATCH_PASSWORD: "the caller's" };
  const add = ["user", "add", "ann", "--config", name, PIPED];
  const added = await run([...add, "--role", "admin,operator"], caller, "s3cret pass\n");
  expect([added.code, added.stdout]).toEqual([
    0,
    "ann is in users.yaml with the roles admin, operator and can log in after the next start or reload.\n",
  ]);
  expect(added.stderr).toMatch(/^note: users\.yaml had the mode 644 and now has 600, /);
  expect(modeOf(name)).toBe(0o600);
  const text = readFileSync(join(directory, name), "utf8");
  expect(text).toContain("# kept");
  expect(await verifyPassword("s3cret pass", parse(text).users[0].passwordHash)).toBe(true);
  // A new password does not change the roles.
  expect(await run(add, {}, "an0ther pass\n")).toMatchObject({ code: 0, stderr: "" });
  expect((await run(["user", "list", "--config", name])).stdout).toBe("user  roles\nann   admin, operator\n");
  expect(await run(["user", "remove", "bob", "--config", name])).toMatchObject({ code: 1 });
  const hash = await run(["user", "hash", PIPED], caller, "a new one");
  expect(isPasswordHash(hash.stdout.trim())).toBe(true);
  expect(await verifyPassword("a new one", hash.stdout.trim())).toBe(true);
  const line = await run(["user", "add", "bob", PIPED], caller, "a new one");
  expect(parse(line.stdout)).toMatchObject([{ name: "bob", roles: ["viewer"] }]);
});

test("a new password comes from a terminal or with --password-stdin, on one line of 8 characters and more", async () => {
  const name = file("unchanged.yaml", "layers: []\n");
  const add = ["user", "add", "ann", "--config", name];
  const refused: [readonly string[], string, RegExp][] = [
    [add, "long enough\n", /no terminal .* --password-stdin \(NUTHATCH_PASSWORD is not used here/],
    [[...add, PIPED], "seven77\n", /expected at least 8 characters, got 7; nothing was written/],
    [[...add, PIPED], "", /expected at least 8 characters, got 0/],
    [[...add, PIPED], "long enough\nand more\n", /expected one line/],
  ];
  for (const [args, input, message] of refused) {
    const ended = await run(args, { NUTHATCH_PASSWORD: "the caller's" }, input);
    expect([ended.code, ended.stdout, ended.stderr]).toEqual([2, "", expect.stringMatching(message)]);
  }
  expect(readFileSync(join(directory, name), "utf8")).toBe("layers: []\n");
});

test("the last administrator of a file is neither removed nor demoted without --force", async () => {
  const admin = `{ name: ann, passwordHash: "x", roles: [admin] }`;
  const viewer = `{ name: bob, passwordHash: "x", roles: [viewer] }`;
  const name = file("last.yaml", `users: [${admin}, ${viewer}]\n`);
  const remove = ["user", "remove", "ann", "--config", name];
  const demote = ["user", "add", "ann", "--config", name, "--role", "operator", PIPED];
  for (const args of [remove, demote]) {
    const ended = await run(args, {}, "long enough");
    expect([ended.code, ended.stdout]).toEqual([1, ""]);
    expect(ended.stderr).toMatch(/ann is the last administrator in last\.yaml, .* --role admin .* --force\n$/);
  }
  expect(await run(["user", "remove", "bob", "--config", name])).toMatchObject({ code: 0 });
  const forced = await run([...remove, "--force"]);
  expect([forced.code, forced.stderr]).toEqual([0, expect.stringMatching(/^note: last\.yaml names no administrator/m)]);
  // The users of a htpasswd file may be administrators.
  const other = file("other.yaml", `users: [${admin}]\nhtpasswd: { file: people }\n`);
  expect(await run(["user", "remove", "ann", "--config", other])).toMatchObject({ code: 0 });
});

test("a command whose reader closes the pipe ends without a message", () => {
  // The schema is longer than the buffer of a pipe. The test reads descriptor 3.
  const script = 'exec 3>&1; { "$0" bin/nuthatch.mjs config schema 2>&3; echo "ended with $?" >&3; } | head -c 1 >&3';
  const output = execFileSync("sh", ["-c", script, process.execPath], { encoding: "utf8" });
  expect(output).toBe("{ended with 0\n");
});
