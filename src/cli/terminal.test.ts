import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasTerminals, inTerminal } from "../../test/support/server/in-terminal.ts";
import { PROGRAM } from "../../test/support/server/program.ts";
import { clientOf } from "../../test/support/server/run-program.ts";
import { startServer, type TestServer } from "../../test/support/server/server.ts";

describe.skipIf(!hasTerminals)("on a terminal (skipped without python3)", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ env: { NUTHATCH_JOBS_CONFIRM_TILES: "1000000" } });
  });
  afterAll(async () => {
    await server.close();
  });
  const run = clientOf(() => server.url);
  const typed = (what: RegExp, keys: string, ...args: string[]) =>
    inTerminal([process.execPath, PROGRAM, ...args], { env: { NUTHATCH_URL: server.url }, what, keys });
  const BAR = /\[[#-]{10,30}\] \d+\.\d %, \d+ of \d+, (\d+|\d\.\d)\/s, .* left/;
  const SEED = ["--grid-set", "EPSG:4326", "--zoom", "0-9", "--format", "image/png"];

  test("a bar shows with rate and time left, and Ctrl-C leaves a clean line that says the job goes on", async () => {
    const ended = await typed(BAR, "\x03", "seed", "topp:states", ...SEED, "--wait");
    expect([ended.code, ended.same], ended.shown).toEqual([-2, true]);
    const [, id] = /Job (\d+): seed of/.exec(ended.shown) ?? [];
    const words = `Job ${id} continues on the server. nuthatch job ${id} --wait waits for it again, nuthatch cancel ${id} cancels it.`;
    // The progress line has been cleared before.
    expect(ended.shown.endsWith(`\r\x1b[K${words}\r\n`), ended.shown).toBe(true);
    expect((await run(["job", id ?? ""])).stdout).toMatch(/^state: +running$/m);
    await run(["kill", "--all"]);
  });

  test("one bar shows the sum of several jobs, and Ctrl-C says how to wait for them again", async () => {
    const ended = await typed(BAR, "\x03", "seed", "topp:states", "img states", ...SEED, "--yes", "--wait");
    expect([ended.code, ended.same], ended.shown).toEqual([-2, true]);
    const [, id] = /2 jobs continue on the server. nuthatch jobs --requested-with (\d+) --wait/.exec(ended.shown) ?? [];
    expect(Number(id)).toBeGreaterThan(0);
    await run(["kill", "--all"]);
  });

  test.each([
    ["no", "n\r"],
    ["Ctrl-C", "\x03"],
    ["Ctrl-D", "\x04"],
  ])("a large job is asked about, and %s makes none", async (_, keys) => {
    const ended = await typed(/\[y\/N\]/, keys, "seed", "topp:states", "--grid-set", "EPSG:4326", "--zoom", "0-14");
    expect([ended.code, ended.same], ended.shown).toEqual([1, true]);
    expect(ended.shown.endsWith("\r\n\x1b[31mnuthatch:\x1b[39m nothing was done\r\n"), ended.shown).toBe(true);
  });

  test("a quota below the usage is asked about, and yes evicts", async () => {
    await run(["seed", "nurc:Arc_Sample", "--grid-set", "EPSG:4326", "--zoom", "0-2", "--wait"]);
    const kept = await typed(/Do it\? \[y\/N\] /, "n\r", "quota", "set", "1KiB", "--enable");
    expect([kept.code, kept.same], kept.shown).toEqual([1, true]);
    expect(kept.shown).toMatch(/This would evict about \d+ tiles, .* on the disk\. Do it\? [\s\S]*nothing was done/);
    const done = await typed(/Do it\? \[y\/N\] /, "y\r", "quota", "set", "1KiB", "--enable");
    expect([done.code, done.shown]).toEqual([0, expect.stringContaining("is enforced: 1 KiB")]);
    await run(["quota", "set", "500MiB", "--disable"]);
  });

  test.each([
    ["the same password twice makes a hash", "long enough\rlong enough\r", /The same again: \r\nscrypt:/, 0],
    ["two passwords make none", "long enough\rlong enouhg\r", /the two passwords are not the same/, 2],
    ["Ctrl-C makes none", "\x03", /nothing was done/, 1],
  ])("a new password is asked for twice and never shown: %s", async (_, keys, shows, code) => {
    const ended = await typed(/New password: /, keys, "user", "hash");
    expect([ended.code, ended.same], ended.shown).toEqual([code, true]);
    expect(ended.shown).toMatch(shows);
    expect(ended.shown).not.toContain("long eno");
  });
});
