import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { chanceOf } from "../soak/chance.ts";
import { startDatedMap } from "../support/upstream/dated-map.ts";
import { exitWithUsage } from "../support/usage.ts";
import { countsMessages, type Fault, isMode, MODES, type Mode, type Operation } from "./control.ts";
import { endServices } from "./places.ts";
import { canRun, faultText, type Outcome, run } from "./runner.ts";
import type { Scenario } from "./scenario.ts";
import { SCENARIOS } from "./scenarios.ts";

exitWithUsage(`npm run faults [-- OPTION…]

Repeats each scenario with a fault at each of its operations. Without options: each scenario, mode and operation.

--scenario NAME  only this scenario
--mode MODE      only this kind of fault: ${MODES.join(", ")}
--at N           only the operation N, and --code EIO its error
--each K         at most K operations of each scenario and mode, of as many kinds as possible, drawn by --seed S
--count          only counts the operations, for operations.json
--program PATH   the program of another build
--log            prints the log of each server`);

const { values } = parseArgs({
  options: {
    scenario: { type: "string" },
    mode: { type: "string" },
    at: { type: "string" },
    code: { type: "string" },
    each: { type: "string" },
    seed: { type: "string", default: String(Date.now() % 2 ** 31) },
    count: { type: "boolean", default: false },
    program: { type: "string" },
    log: { type: "boolean", default: false },
  },
});

/** Operations of one kind at places of one form differ in nothing that a fault could tell apart. */
const formOf = ({ kind, path }: Operation): string => `${kind} ${path.replaceAll(/[0-9a-f]{8,}|\d+/g, "#")}`;

/**
 * Returns operations of as many forms as possible: the forms in turn. Of operations of one form in a row, such as the
 * writes of one transaction, only the first one is drawn.
 */
function drawn(
  operations: readonly Operation[],
  isWanted: (operation: Operation) => boolean,
  most: number,
  seed: number,
): readonly number[] {
  const forms = new Map<string, number[]>();
  for (const [at, operation] of operations.entries()) {
    const form = formOf(operation);
    const before = operations[at - 1];
    if (isWanted(operation) && (before === undefined || formOf(before) !== form))
      forms.set(form, [...(forms.get(form) ?? []), at + 1]);
  }
  const chance = chanceOf(seed);
  const left = [...forms.values()];
  const picked: number[] = [];
  for (let n = chance.below(left.length); picked.length < most && left.length > 0; n = (n + 1) % left.length) {
    const numbers = left[n] ?? [];
    picked.push(...numbers.splice(chance.below(numbers.length), 1));
    if (numbers.length === 0) left.splice(n--, 1);
  }
  return picked.sort((a, b) => a - b);
}

function tell({ scenario, fault, hit, problems, log }: Outcome): void {
  const result = problems.length === 0 ? "ok" : `FAULT\n    ${problems.join("\n    ")}`;
  console.log(
    `${scenario}: ${fault === undefined ? "no fault" : faultText(fault)} (${hit ?? "not reached"}): ${result}`,
  );
  if (values.log) console.log(log);
}

const modes: readonly Mode[] = values.mode === undefined ? MODES : values.mode.split(",").filter(isMode);
const wanted = values.scenario?.split(",");
const scenarios = SCENARIOS.filter(({ name }) => wanted === undefined || wanted.includes(name));
const code = values.code === "ENOSPC" ? "ENOSPC" : "EIO";

/** Torn writes and full disks concern operations that write. */
const concerns = (mode: Mode, { kind }: Operation): boolean =>
  mode === "torn" ? kind === "write" : mode === "full" ? ["write", "open", "mkdir"].includes(kind) : true;

async function runAll(scenario: Scenario): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  const go = async (fault: Fault | undefined): Promise<Outcome> => {
    const messages = fault === undefined || countsMessages(fault.mode);
    const outcome = await run(scenario, map, fault, { messages, program: values.program });
    outcomes.push(outcome);
    if (fault !== undefined || outcome.problems.length > 0) tell(outcome);
    return outcome;
  };
  if (values.at !== undefined) {
    for (const mode of modes) await go({ mode, at: Number(values.at), code });
    return outcomes;
  }
  const { operations: all } = await go(undefined);
  const ofFiles = all.filter(({ kind }) => !["message", "answer"].includes(kind));
  console.log(`${scenario.name}: ${ofFiles.length} operations on files, ${all.length - ofFiles.length} messages`);
  if (values.count) {
    counted[scenario.name] = { files: ofFiles.length, messages: all.length - ofFiles.length };
    return outcomes;
  }
  for (const mode of modes) {
    const operations = countsMessages(mode) ? all : ofFiles;
    const isWanted = (operation: Operation): boolean => concerns(mode, operation);
    const numbers =
      values.each === undefined
        ? operations.flatMap((operation, at) => (isWanted(operation) ? [at + 1] : []))
        : drawn(operations, isWanted, Number(values.each), Number(values.seed));
    for (const at of numbers) await go({ mode, at, code: values.code === undefined && at % 2 === 0 ? "ENOSPC" : code });
  }
  return outcomes;
}

if (!canRun()) throw new Error("faults need Linux and a C compiler (cc)");
const map = await startDatedMap();
const counted: Record<string, { readonly files: number; readonly messages: number }> = {};
const began = Date.now();
let runs = 0;
let faults = 0;
for (const scenario of scenarios) {
  if (scenario.place?.missing !== undefined) {
    console.log(`SKIPPED: ${scenario.name}: ${scenario.place.missing}`);
    continue;
  }
  const outcomes = await runAll(scenario);
  runs += outcomes.length;
  faults += outcomes.filter(({ problems }) => problems.length > 0).length;
}
if (values.count && wanted === undefined)
  writeFileSync(new URL("operations.json", import.meta.url), `${JSON.stringify(counted, null, 2)}\n`);
await map.upstream.close();
await endServices();
console.log(
  `${scenarios.length} scenarios, ${runs} runs, ${faults} with faults, ${Math.round((Date.now() - began) / 1000)} s, seed ${values.seed}`,
);
process.exitCode = faults === 0 ? 0 : 1;
