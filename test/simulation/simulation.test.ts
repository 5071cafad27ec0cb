import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { isFull } from "../support/full.ts";
import { testSeed } from "../support/test-seed.ts";

const program = fileURLToPath(new URL("run.mjs", import.meta.url));

/** Runs the simulator. The error of a violation has the last events, and the seed that repeats it. */
async function simulated(...options: readonly string[]): Promise<string> {
  const run = promisify(execFile)(process.execPath, [program, ...options], { maxBuffer: 2 ** 26 });
  const { stdout } = await run.catch((error: { readonly stdout: string; readonly stderr: string }) => {
    throw new Error(`${error.stdout}\n${error.stderr}`);
  });
  return stdout;
}

const linesOf = (output: string): readonly string[] =>
  output.split("\n").filter((line) => /^seed \d+: \S+$/.test(line));

test.concurrent("two simulations of one seed are equal to the last event", async () => {
  const options = ["--seed", String(testSeed()), "--hours", "0.03", "--digest"];
  const [first, second] = await Promise.all([simulated(...options), simulated(...options)]);
  expect(linesOf(first)).toHaveLength(1);
  expect(linesOf(second)).toEqual(linesOf(first));
});

// A violation may be a fault of the simulation itself: each is read before the next run of the gate has it.
test.skipIf(!isFull)("a simulated server with faults of all kinds keeps its promises", async () => {
  expect(await simulated("--seed", String(testSeed() + 1), "--hours", "0.2")).toMatch(/[1-9]\d* faults/);
});
