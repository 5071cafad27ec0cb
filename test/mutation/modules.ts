import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { runsProgram } from "../support/runs-program.ts";

/** A part of the product of which a mutation score is promised. */
interface MutatedModule {
  /** The files of the module, as paths from the root. The tests and conformance suites among them are not mutated. */
  readonly sources: RegExp;
  /** The unit tests that run against the mutants. */
  readonly tests: RegExp;
  /** Whether the texts of refusals and errors are mutated: decoders promise clients a text that names the field. */
  readonly mutatesMessages: boolean;
}

const folder = (name: string): MutatedModule => ({
  sources: new RegExp(`^src/${name}/`),
  tests: new RegExp(`^src/${name}/`),
  mutatesMessages: false,
});

/** By the argument of `npm run mutate`. */
export const MODULES: ReadonlyMap<string, MutatedModule> = new Map([
  ...["cache", "grid", "jobs", "ledger", "plan", "quota", "render", "truncation"].map(
    (name) => [name, folder(name)] as const,
  ),
  [
    "cluster",
    {
      sources:
        /^src\/app\/cluster\/(?:link\/lease|node\/membership|lead\/(?:calls-in-progress|drain-member|known-nodes|member|node-admission|node-pool))\.ts$/,
      tests: /^src\/app\/cluster\//,
      mutatesMessages: false,
    },
  ],
  [
    "management",
    {
      sources: /^src\/http\/management\/(?:.*-codec|bounds-and-parameters)\.ts$/,
      tests: /^src\/http\/management\//,
      mutatesMessages: true,
    },
  ],
  [
    "configuration",
    {
      sources: /^src\/configuration\/(?:fields|internal|gwc\/codec)\//,
      tests: /^src\/configuration\//,
      mutatesMessages: true,
    },
  ],
]);

const root = fileURLToPath(new URL("../..", import.meta.url));

const files = readdirSync(`${root}src`, { recursive: true, encoding: "utf8" })
  .map((path) => `src/${path}`)
  .filter((path) => path.endsWith(".ts"))
  .sort();

/** The files of a module that are mutated, as paths from the root. */
export const sourcesOf = ({ sources }: MutatedModule): readonly string[] =>
  files.filter((file) => sources.test(file) && !/\.(?:test|conformance)\.ts$/.test(file));

/** The tests of a module, as paths from the root, but for those that run the built program, which has no mutants. */
export const testsOf = ({ tests }: MutatedModule): readonly string[] =>
  files.filter((file) => tests.test(file) && file.endsWith(".test.ts") && !runsProgram(file));
