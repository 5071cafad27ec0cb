import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasTerminals, inTerminal } from "../../../test/support/in-terminal.ts";
import { PROGRAM } from "../../../test/support/program.ts";
import { clientOf } from "../../../test/support/run-program.ts";
import { startServer, type TestServer } from "../../../test/support/server.ts";

let server: TestServer;
const directory = mkdtempSync(join(tmpdir(), "nuthatch-shell-"));
beforeAll(async () => {
  server = await startServer();
  // A script in place of the program: it prints its arguments, except for completion commands.
  const file = join(directory, "nuthatch");
  const own = `case $1 in completion|__complete) exec "${process.execPath}" "${PROGRAM}" "$@" ;; esac`;
  writeFileSync(file, `#!/bin/sh\n${own}\nprintf '<%s>' "$@"; echo\n`);
  chmodSync(file, 0o755);
});
afterAll(async () => {
  await server.close();
  rmSync(directory, { recursive: true });
});

const run = clientOf(() => server.url);
/** Returns the kind of completion at the end of these words, then the completions. */
async function completed(...words: string[]): Promise<readonly string[]> {
  const { code, stdout, stderr } = await run(["__complete", "fish", "--", ...words]);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.replace(/\t.*/, ""));
}

test("commands, their commands, options and fixed words are those of the program", async () => {
  expect(await completed("s")).toEqual(["words", "serve", "store", "status", "seed", "schedule"]);
  expect(await completed("doc")).toEqual(["words", "doctor"]);
  expect(await completed("config", "check", "--on")).toEqual(["words", "--online"]);
  expect(await completed("schedule", "re")).toEqual(["words", "remove", "resume"]);
  expect(await completed("seed", "--bounds")).toEqual(["words", "--bounds", "--bounds-crs"]);
  expect(await completed("jobs", "--state", "")).toEqual(["words", "pending", "running", "done", "aborted", "paused"]);
  expect(await completed("jobs", "--state=r")).toEqual(["words", "--state=running"]);
  expect(await completed("schedule", "add", "a", "b", "--cron", "@d")).toEqual(["words", "@daily"]);
  expect(await completed("seed", "a", "--time-zone", "Europe/Zu")).toEqual(["words", "Europe/Zurich"]);
  expect(await completed("seed", "a", "--wait", "--wai")).toEqual(["words"]);
  expect(await completed("seed", "--", "--wai")).toEqual(["words"]);
  expect(await completed("seed", "--area", "x")).toEqual(["files"]);
  expect(await completed("serve", "--data-dir", "")).toEqual(["directories"]);
  expect(await completed("status", "")).toEqual(["words", "--url", "--user", "--json", "--help"]);
  expect(await completed("quota", "s")).toEqual(["words", "set"]);
  expect(await completed("quota", "set", "--policy", "")).toEqual(["words", "LRU", "LFU"]);
  expect(await completed("--json", "--us")).toEqual(["words", "--user"]);
  expect(await completed("--json", "us")).toEqual(["words", "user", "users"]);
  expect(await completed("completion", "")).toEqual(["words", "bash", "zsh", "fish"]);
});

test("names and numbers are those of the server", async () => {
  expect(await completed("seed", "")).toEqual(["words", "topp:states", "nurc:Arc_Sample", "img states"]);
  expect(await completed("seed", "topp:states", "img states", "")).toEqual(["words", "nurc:Arc_Sample"]);
  expect(await completed("jobs", "--layer", "t")).toEqual(["words", "topp:states"]);
  const formats = await completed("seed", "topp:states", "--format", "");
  expect(formats).toEqual(["words", ...new Set(formats.slice(1))]);
  expect(formats).toContain("image/png8");
  expect(await completed("seed", "topp:states", "--grid-set", "EPSG:9")).toEqual(["words", "EPSG:900913"]);
  const range = ["topp:states", "--grid-set", "EPSG:4326", "--zoom"];
  const idOf = ({ stdout }: { readonly stdout: string }) => /^Job (\d+):/.exec(stdout)?.[1] ?? "";
  const [ended, large] = [
    idOf(await run(["seed", ...range, "0", "--wait"])),
    idOf(await run(["seed", ...range, "0-12"])),
  ];
  await run(["pause", large]);
  expect(await completed("job", "")).toEqual(["words", large, ended]);
  expect(await completed("resume", "")).toEqual(["words", large]);
  expect([await completed("pause", ""), await completed("retry", "")]).toEqual([["words"], ["words"]]);
  await run(["kill", "--all"]);
  expect([await completed("kill", ""), await completed("retry", "")]).toEqual([["words"], ["words", large]]);
  await run(["schedule", "add", "every night", "topp:states", "--cron", "@daily", "--zoom", "0"]);
  expect(await completed("schedule", "run", "")).toEqual(["words", "every night"]);
  await run(["truncate", "topp:states"]);
  expect(await completed("undo", "")).toEqual(["words", "1"]);
  expect(await completed("seed", "--url", "http://127.0.0.1:9", "")).toEqual(["words"]);
  expect(await completed("--url", "http://127.0.0.1:9", "seed", "")).toEqual(["words"]);
});

test("a server that does not answer delays the completion by about a second at most", async () => {
  const { createServer } = await import("node:net");
  const silent = createServer();
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const address = silent.address();
  if (address === null || typeof address === "string") throw new TypeError("no port");
  const printed = await run(["__complete", "zsh", "--", "seed", ""], {
    NUTHATCH_URL: `http://127.0.0.1:${address.port}`,
  });
  expect(printed).toEqual({ code: 0, stdout: "words\n", stderr: "" });
  silent.close();
});

const SHELLS = [
  ["bash", ["--norc", "--noprofile", "-i"], "source <(nuthatch completion bash)"],
  ["zsh", ["-f", "-i"], "autoload -Uz compinit && compinit -D -u; source <(nuthatch completion zsh)"],
  ["fish", ["--no-config", "-i"], "nuthatch completion fish | source"],
] as const;

function isInstalled(shell: string): boolean {
  try {
    execFileSync(shell, ["-c", "exit 0"], { stdio: "ignore" });
    return hasTerminals;
  } catch {
    return false;
  }
}

for (const [shell, flags, load] of SHELLS)
  describe.skipIf(!isInstalled(shell))(`in ${shell} (skipped where it is not installed, or python3 is not)`, () => {
    /** Returns the arguments that the program gets when a line is typed and sent. */
    async function typed(line: string): Promise<string | undefined> {
      const { shown } = await inTerminal([shell, ...flags], {
        env: { PATH: `${directory}:${process.env["PATH"]}`, NUTHATCH_URL: server.url, HOME: directory },
        what: /^/,
        keys: `${load}\r${line}\rexit\r`,
      });
      return /(?:^|[^\w<-])((?:<[^<>]+>)+)\r?$/m.exec(shown)?.[1] ?? shown;
    }

    test.each([
      ["a command", "nuthatch esti\ttopp:states", "<estimate><topp:states>"],
      ["a name with a colon", "nuthatch seed topp:st\t--wait", "<seed><topp:states><--wait>"],
      ["a name from its start", "nuthatch seed nu\t", "<seed><nurc:Arc_Sample>"],
      ["a name with a blank", "nuthatch seed im\t--wait", "<seed><img states><--wait>"],
      ["a name in quotes", "nuthatch seed 'im\t", "<seed><img states>"],
      [
        "an option and its value",
        "nuthatch seed topp:states --grid-s\tEPSG:9\t",
        "<seed><topp:states><--grid-set><EPSG:900913>",
      ],
      ["a value after =", "nuthatch jobs --state=ru\t", "<jobs><--state=running>"],
      ["a file", "nuthatch seed a --area nutha\t", "<seed><a><--area><nuthatch>"],
    ])("%s", async (_, line, words) => {
      expect(await typed(`cd ${directory}\r${line}`)).toBe(words);
    });
  });
