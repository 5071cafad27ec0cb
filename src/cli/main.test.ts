import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { parse } from "yaml";
import { runProgram } from "../../test/support/run-program.ts";
import { isPasswordHash, verifyPassword } from "../http/auth/password.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-cli-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}, input = "") =>
  runProgram(args, { env, cwd: directory, input });
function file(name: string, text: string): string {
  writeFileSync(join(directory, name), text);
  return name;
}

test("config check ends with 0 for a good file and with 78, the places and nothing else for a bad one", async () => {
  const good = file("good.yaml", 'layers: [{ name: a, source: { type: wms, url: "http://u/" } }]\n');
  const fine = await run(["config", "check", "--config", good]);
  expect(fine).toMatchObject({ code: 0, stderr: "" });
  expect(fine.stdout).toMatch(/good\.yaml is valid: 1 layers/);
  const bad = file("bad.yaml", "server: { prot: 1 }\njobs: 1\n");
  const wrong = await run(["config", "check"], { NUTHATCH_CONFIG: bad });
  expect(wrong).toMatchObject({ code: 78, stdout: "" });
  expect(wrong.stderr).toMatch(/bad\.yaml:1:11: server\.prot: unknown key; did you mean port\?/);
  expect(wrong.stderr).toMatch(/bad\.yaml:2:7: jobs: expected a map/);
  expect(await run(["serve", "--config", bad])).toMatchObject({ code: 78, stdout: "" });
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

test("users are added to a file, listed and removed, the password never on the command line", async () => {
  const name = file("users.yaml", "# kept\nlayers: []\n");
  const mode = statSync(join(directory, name)).mode;
  expect(
    await run(["user", "add", "ann", "--config", name, "--role", "operator,viewer"], {}, "s3cret\n"),
  ).toMatchObject({
    code: 0,
  });
  const text = readFileSync(join(directory, name), "utf8");
  expect(text).toContain("# kept");
  expect(statSync(join(directory, name)).mode).toBe(mode);
  const [user] = parse(text).users;
  expect(await verifyPassword("s3cret", user.passwordHash)).toBe(true);
  expect((await run(["user", "list", "--config", name])).stdout).toBe("ann\toperator,viewer\n");
  expect(await run(["user", "remove", "bob", "--config", name])).toMatchObject({ code: 1 });
  expect(await run(["user", "remove", "ann", "--config", name])).toMatchObject({ code: 0 });
  expect((await run(["user", "list", "--config", name])).stdout).toBe("");
  const hash = await run(["user", "hash"], { NUTHATCH_PASSWORD: "x" });
  expect(isPasswordHash(hash.stdout.trim())).toBe(true);
  const line = await run(["user", "add", "bob"], { NUTHATCH_PASSWORD: "x" });
  expect(parse(line.stdout)).toMatchObject([{ name: "bob", roles: ["admin"] }]);
});

test("a command whose reader closes the pipe ends without a message", () => {
  // The schema is longer than the buffer of a pipe. Descriptor 3 is the output that the test reads.
  const script = 'exec 3>&1; { "$0" bin/nuthatch.mjs config schema 2>&3; echo "ended with $?" >&3; } | head -c 1 >&3';
  const output = execFileSync("sh", ["-c", script, process.execPath], { encoding: "utf8" });
  expect(output).toBe("{ended with 0\n");
});
