import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { exitWithUsage } from "../support/usage.ts";
import { readSabotages, type Sabotage } from "./sabotages.ts";

exitWithUsage(`npm run sabotage [-- NAME…]

Applies each patch of test/sabotage/patches to a copy of the sources, and runs the tests that the patch names.
Ends well if the tests pass without the patches, and each patch makes an assertion fail.

NAME  a part of the name of a patch, such as ledger/ or quota/pinned. Default: all patches`);

const root = fileURLToPath(new URL("../..", import.meta.url));
const WORKERS = 2;

/** A failed test: its full name, and the first line of its first error. */
interface Failure {
  readonly test: string;
  readonly error: string;
}

/** The part of vitest's report in JSON that is read here. */
interface Report {
  readonly success: boolean;
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** Copies the files of the work tree, committed or not, and links its packages. */
function copySources(scratch: string): void {
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root });
  for (const file of listed.toString().split("\0")) {
    if (file === "" || !existsSync(join(root, file))) continue;
    mkdirSync(dirname(join(scratch, file)), { recursive: true });
    cpSync(join(root, file), join(scratch, file));
  }
  symlinkSync(join(root, "node_modules"), join(scratch, "node_modules"));
}

/**
 * Runs test files in the copy, as the gate runs them. They build the program if they run it.
 * @param bail whether the first failure ends the run
 */
function runTests(scratch: string, tests: readonly string[], bail: boolean): readonly Failure[] {
  const report = join(scratch, "report.json");
  rmSync(report, { force: true });
  const options = ["--project=!postgres", `--maxWorkers=${WORKERS}`, "--no-cache", ...(bail ? ["--bail=1"] : [])];
  const { stderr } = spawnSync(
    process.execPath,
    ["node_modules/vitest/vitest.mjs", "run", ...tests, ...options, "--reporter=json", `--outputFile=${report}`],
    { cwd: scratch, env: { ...process.env, NUTHATCH_GATE: "1" }, encoding: "utf8", maxBuffer: 2 ** 28 },
  );
  if (!existsSync(report)) return [{ test: "vitest", error: stderr.trim().split("\n").at(-1) ?? "" }];
  const { success, testResults }: Report = JSON.parse(readFileSync(report, "utf8"));
  const failures = testResults.flatMap(({ name, message, assertionResults }) => {
    const file = relative(scratch, name);
    const failed = assertionResults.filter(({ status }) => status === "failed");
    if (message !== "" && failed.length === 0) return [{ test: file, error: message }];
    return failed.map(({ fullName, failureMessages: [error = ""] }) => ({ test: `${file}: ${fullName}`, error }));
  });
  return success || failures.length > 0 ? failures : [{ test: "vitest", error: "an error outside of a test" }];
}

/** Returns whether a test has failed by its assertion, and not because the patched file cannot be loaded or run. */
const isAssertion = ({ error }: Failure): boolean => /^(?:AssertionError|Error: Property failed)/.test(error);

/** Applies a sabotage and returns whether its tests found it. Prints a line. */
function isFound(scratch: string, { name, file, tests }: Sabotage): boolean {
  const startMs = performance.now();
  const apply = (...options: string[]) => execFileSync("git", ["apply", ...options, file], { cwd: scratch });
  apply();
  const failures = runTests(scratch, tests, true);
  apply("-R");
  const found = failures.find(isAssertion);
  const seconds = ((performance.now() - startMs) / 1_000).toFixed(1);
  const [other] = failures;
  const why = other === undefined ? "all tests passed" : `${other.test}: ${other.error.split("\n")[0]}`;
  console.log(found ? `found      ${name} (${seconds} s): ${found.test}` : `NOT FOUND  ${name} (${seconds} s): ${why}`);
  return found !== undefined;
}

const names = process.argv.slice(2);
const all = readSabotages();
const unknown = names.find((part) => !all.some(({ name }) => name.includes(part)));
if (unknown !== undefined) {
  console.error(`no patch has ${JSON.stringify(unknown)} in its name: ${all.map(({ name }) => name).join(", ")}`);
  process.exit(2);
}
const sabotages = all.filter(({ name }) => names.length === 0 || names.some((part) => name.includes(part)));
const scratch = mkdtempSync(join(tmpdir(), "nuthatch-sabotage-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));
process.on("SIGINT", () => process.exit(130));
copySources(scratch);

const failures = runTests(scratch, [...new Set(sabotages.flatMap(({ tests }) => tests))], false);
for (const { test, error } of failures) console.log(`FAILS WITHOUT A PATCH  ${test}: ${error.split("\n")[0]}`);
const found = sabotages.filter((sabotage) => isFound(scratch, sabotage));
console.log(`${found.length} of ${sabotages.length} found`);
process.exitCode = failures.length === 0 && found.length === sabotages.length ? 0 : 1;
