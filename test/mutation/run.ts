import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Stryker } from "@stryker-mutator/core";
import { exitWithUsage } from "../support/usage.ts";
import { EQUIVALENTS, type Equivalent } from "./equivalents.ts";
import { MODULES, sourcesOf, testsOf } from "./modules.ts";

/*
 * `npm run mutate -- MODULE [FILE…]`: changes the sources of a module in one place after the other, and runs the unit
 * tests of the module against each change. FILE is a part of a path. The results of a module are kept under
 * `node_modules/.cache/mutation`; a later run tests only what has changed since then. Ends well if the whole module has
 * at least the promised score.
 */

const PROMISED_PERCENT = 85;
const CACHE = "node_modules/.cache/mutation";

/** The part of the schema of mutation reports that is read here (github.com/stryker-mutator/mutation-testing-elements). */
interface Report {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly Mutant[] }>>;
}
interface Position {
  /** Both are counted from 1. */
  readonly line: number;
  readonly column: number;
}
interface Mutant {
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly status: string;
  readonly location: { readonly start: Position; readonly end: Position };
}

const USAGE = `npm run mutate -- MODULE [FILE…] [--force] [--concurrency N] [--list]
  MODULE           one of ${[...MODULES.keys()].join(", ")}
  FILE             a part of a path: mutates only these files
  --force          tests each mutant again: after a change of code outside of the module and its tests
  --concurrency N  mutants that are tested at once; default: one less than there are cores
  --list           prints the results of earlier runs, and tests nothing`;
exitWithUsage(USAGE);

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { force: { type: "boolean" }, concurrency: { type: "string" }, list: { type: "boolean" } },
});
const [name = "", ...parts] = positionals;
const module = MODULES.get(name);
if (module === undefined) {
  console.error(USAGE);
  process.exit(2);
}
process.chdir(fileURLToPath(new URL("../..", import.meta.url)));
const sources = sourcesOf(module);
const mutated = sources.filter((file) => parts.length === 0 || parts.some((part) => file.includes(part)));
const results = `${CACHE}/${name}.json`;

async function testMutants(mutate: readonly string[], tests: readonly string[], ignorers: string[]): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  process.env["NUTHATCH_MUTATION_TESTS"] = tests.join(" ");
  process.env["NUTHATCH_TEST_SEED"] ??= "20261130";
  const stryker = new Stryker({
    mutate: [...mutate],
    testRunner: "vitest",
    vitest: { configFile: "test/mutation/vitest.config.ts", related: true },
    plugins: ["@stryker-mutator/vitest-runner", "./test/mutation/ignore-messages.mjs"],
    ignorers,
    incremental: true,
    incrementalFile: results,
    force: options.force ?? false,
    concurrency: Number(options.concurrency ?? Math.max(1, availableParallelism() - 1)),
    // Vitest takes no sources from below node_modules. `.cache` is in .gitignore.
    tempDirName: ".cache/mutation",
    ignorePatterns: ["dist", "data", ".cache"],
    // The tests do not check types.
    disableTypeChecks: false,
    // A hanging mutant ends soon; a busy machine needs more than the default of 5 s.
    timeoutMS: 10_000,
    reporters: ["progress-append-only"],
    allowConsoleColors: false,
  });
  await stryker.runMutationTest();
}

/** Returns the source text from `start` to `end`. */
function textBetween(source: string, { start, end }: Mutant["location"]): string {
  const lines = source.split("\n").slice(start.line - 1, end.line);
  const last = lines.length - 1;
  lines[last] = lines[last]?.slice(0, end.column - 1) ?? "";
  lines[0] = lines[0]?.slice(start.column - 1) ?? "";
  return lines.join("\n");
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ");

const percent = (found: number, all: number): string => (all === 0 ? "-" : `${((100 * found) / all).toFixed(1)} %`);

if (options.list !== true) {
  await testMutants(mutated, testsOf(module), ["log-messages", ...(module.mutatesMessages ? [] : ["error-messages"])]);
}
const report: Report = existsSync(results) ? JSON.parse(readFileSync(results, "utf8")) : { files: {} };
const unused = new Set(EQUIVALENTS.filter(({ file }) => sources.includes(file) && report.files[file] !== undefined));
let allFound = 0;
let all = 0;
for (const file of sources) {
  const { source = "", mutants = [] } = report.files[file] ?? {};
  const isEquivalent = (mutant: Mutant): boolean => {
    const original = oneLine(textBetween(source, mutant.location));
    const matches = (known: Equivalent): boolean =>
      known.file === file &&
      original.startsWith(known.original) &&
      (known.replacement === undefined || known.replacement === oneLine(mutant.replacement ?? ""));
    const known = EQUIVALENTS.find(matches);
    if (known !== undefined) unused.delete(known);
    return known !== undefined;
  };
  const found = mutants.filter(({ status }) => status === "Killed" || status === "Timeout").length;
  const lost = mutants.filter(({ status }) => status === "Survived" || status === "NoCoverage");
  const survivors = lost.filter((mutant) => !isEquivalent(mutant));
  allFound += found;
  all += found + survivors.length;
  if (mutated.includes(file)) {
    for (const mutant of survivors) {
      const { line, column } = mutant.location.start;
      const original = oneLine(textBetween(source, mutant.location));
      const what = `${original.slice(0, 100)}  ->  ${oneLine(mutant.replacement ?? "").slice(0, 100)}`;
      console.log(`${mutant.status} ${file}:${line}:${column} ${mutant.mutatorName}: ${what}`);
    }
  }
  console.log(`${file}: ${percent(found, found + survivors.length)} of ${found + survivors.length}`);
}
for (const { file, original } of unused) console.log(`NO SUCH SURVIVOR  equivalents.ts: ${file}: ${original}`);
const measured = sources.filter((file) => report.files[file] !== undefined).length;
console.log(`${name}: ${percent(allFound, all)} of ${all} mutants, in ${measured} of ${sources.length} files`);
process.exitCode = measured === sources.length && allFound * 100 >= all * PROMISED_PERCENT && unused.size === 0 ? 0 : 1;
