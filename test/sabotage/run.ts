import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { createVitest, type TestCase, type Vitest } from "vitest/node";
import { readSabotages, type Sabotage } from "./sabotages.ts";

/*
 * `npm run sabotage [-- NAME…]`: applies each patch to a copy of the sources, and runs the tests that the patch names.
 * Ends well if the tests pass without the patches, and each patch makes an assertion fail. NAME is a part of a name.
 */

const root = fileURLToPath(new URL("../..", import.meta.url));
const WORKERS = 2;

interface Failure {
  /** The file and the name of the test. */
  readonly test: string;
  readonly error: string;
  /** Whether an assertion has failed, in contrast to a patched file that cannot be loaded or run. */
  readonly isAssertion: boolean;
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

/** Runs test files of the copy until the first failure. Returns the failures; several tests may run at once. */
async function runTests(vitest: Vitest, tests: readonly string[]): Promise<readonly Failure[]> {
  const paths = new Set(tests.map((path) => join(vitest.config.root, path)));
  const specifications = [...paths].flatMap((path) => vitest.getModuleSpecifications(path));
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
  const failed = testModules
    .filter(({ moduleId }) => paths.has(moduleId))
    .flatMap((module) => {
      const file = relative(vitest.config.root, module.moduleId);
      const loading = module.errors().map(({ message }) => ({ test: file, error: message, isAssertion: false }));
      return [...loading, ...[...module.children.allTests("failed")].map((test) => failureOf(file, test))];
    });
  const outside = unhandledErrors.map((error) => ({ test: "no test", error: String(error), isAssertion: false }));
  return [...failed, ...outside];
}

function failureOf(file: string, test: TestCase): Failure {
  const [error] = test.result().errors ?? [];
  // fast-check has the assertion as the cause of its error.
  const isAssertion = [error, error?.cause].some((one) => one?.name === "AssertionError");
  return { test: `${file}: ${test.fullName}`, error: error?.message.split("\n", 1)[0] ?? "", isAssertion };
}

/** Whether a test file runs the built program. */
const runsProgram = (file: string): boolean => file.startsWith("test/");

/** Applies a sabotage and returns whether its tests find it. Prints a line. */
async function isFound(vitest: Vitest, { name, file, tests, changed }: Sabotage): Promise<boolean> {
  const { root: scratch } = vitest.config;
  const startMs = performance.now();
  const apply = (...options: string[]): void => {
    execFileSync("git", ["apply", ...options, file], { cwd: scratch });
    for (const path of changed) vitest.invalidateFile(join(scratch, path));
  };
  apply();
  if (tests.some(runsProgram)) execFileSync(process.execPath, ["bin/prepare.mjs", "--no-docs"], { cwd: scratch });
  const failures = await runTests(vitest, tests);
  apply("-R");
  const found = failures.find(({ isAssertion }) => isAssertion);
  const [other] = failures;
  const why = other === undefined ? "all tests passed" : `${other.test}: ${other.error}`;
  const what = `${name} (${((performance.now() - startMs) / 1_000).toFixed(1)} s)`;
  console.log(found === undefined ? `NOT FOUND  ${what}: ${why}` : `found      ${what}: ${found.test}`);
  return found !== undefined;
}

const names = process.argv.slice(2);
const sabotages = readSabotages().filter(({ name }) => names.length === 0 || names.some((part) => name.includes(part)));
const scratch = mkdtempSync(join(tmpdir(), "nuthatch-sabotage-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));
process.on("SIGINT", () => process.exit(130));
copySources(scratch);
process.chdir(scratch);
// The properties have the seed of the gate, so that each run gives the same result.
process.env["NUTHATCH_GATE"] = "1";
const options = { watch: false, project: ["unit", "program"], maxWorkers: WORKERS, bail: 1, reporters: [{}] };
const vitest = await createVitest("test", { root: scratch, ...options });
await vitest.globTestSpecifications();

let found = 0;
const failures = await runTests(vitest, [...new Set(sabotages.flatMap(({ tests }) => tests))]);
for (const { test, error } of failures) console.log(`FAILS WITHOUT A PATCH  ${test}: ${error}`);
if (failures.length === 0) for (const sabotage of sabotages) if (await isFound(vitest, sabotage)) found++;
console.log(`${found} of ${sabotages.length} found`);
await vitest.close();
process.exit(found === sabotages.length ? 0 : 1);
