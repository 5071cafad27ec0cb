import { until } from "../support/until.ts";
import type { DatedMap } from "../support/upstream/dated-map.ts";
import { countsMessages, type Fault, FaultControl, type Operation } from "./control.ts";
import { faultsIn, judge, leftovers, nothingIsLeft } from "./oracle.ts";
import { HERE } from "./places.ts";
import type { Scenario, Steps } from "./scenario.ts";
import { newDirectory, Trial } from "./trial.ts";

export interface Outcome {
  readonly scenario: string;
  readonly fault: Fault | undefined;
  /** The operation that went wrong; undefined: the run had fewer operations. */
  readonly hit: string | undefined;
  readonly operations: readonly Operation[];
  readonly problems: readonly string[];
  readonly log: string;
}

export const faultText = ({ mode, at, code }: Fault): string =>
  `${mode} ${mode === "fail" || mode === "fail-after" ? `${code} ` : ""}${at}`;

/** Whether this machine can run faults. */
export const canRun = (): boolean => {
  const control = FaultControl.start([]);
  control?.close();
  return control !== undefined;
};

/**
 * Runs a scenario with one fault, or without one, restarts the server, and judges it. `messages`: whether messages count;
 * `program`: the path of another build.
 */
export async function run(
  scenario: Scenario,
  map: DatedMap,
  fault: Fault | undefined,
  {
    messages = fault !== undefined && countsMessages(fault.mode),
    program,
  }: { readonly messages?: boolean; readonly program?: string | undefined } = {},
): Promise<Outcome> {
  const directory = newDirectory();
  const control = FaultControl.start([directory]);
  if (control === undefined) throw new Error("there is no C compiler");
  map.version = 1;
  const { place = HERE } = scenario;
  const port = await place.start();
  const trial = new Trial({ control, map, place }, directory, {
    ...scenario.options(map.upstream.url, directory),
    ...(program === undefined ? {} : { program }),
  });
  const problems: string[] = [];
  let operations: readonly Operation[] = [];
  try {
    await trial.start();
    const steps = scenario.begin(trial);
    await steps.prepare?.();
    control.arm(fault, { messages, port });
    problems.push(...(await acted(trial, steps, fault)));
    control.disarm();
    operations = control.operations();
    await trial.start();
    problems.push(...((await steps.settle?.()) ?? []), ...(await judge(trial)), ...(await steps.check()));
    if ((await leftovers(trial)).length > 0) {
      // The second sweep.
      await trial.killAll();
      await trial.start();
      problems.push(...(await nothingIsLeft(trial)));
    }
  } catch (error) {
    problems.push(`the run ended: ${error instanceof Error ? error.message : error}`);
  }
  const hit = control.hit?.text;
  await trial.killAll();
  problems.push(...faultsIn(trial, fault?.mode));
  await trial.close();
  control.close();
  return { scenario: scenario.name, fault, hit, operations, problems, log: trial.log };
}

/** Runs the steps until the server has ended. Returns what contradicts the promises on the way. */
async function acted(trial: Trial, steps: Steps, fault: Fault | undefined): Promise<readonly string[]> {
  const { control } = trial;
  const problems: string[] = [];
  const acting = steps.act().catch((error: unknown) => {
    // A server that ends during its start is no contradiction if the fault ended it.
    if (control.hit === undefined || trial.isOver === false) problems.push(`the scenario failed: ${error}`);
  });
  if (fault?.mode === "hang" || fault?.mode === "stall") {
    let isDone = false;
    void acting.then(() => {
      isDone = true;
    });
    await until("the operation hangs", async () => (isDone || control.hit !== undefined ? true : undefined));
    if (control.hit !== undefined) {
      problems.push(...(await answersMeanwhile(trial)));
      if (fault.mode === "hang") await trial.killAll();
      control.release();
    }
  }
  await acting;
  if (control.hit !== undefined) control.disarm();
  if (trial.isOver) {
    await trial.killAll();
    return problems;
  }
  // A process has ended, or an operation has failed: the server goes on, and is exact without a restart.
  if (control.hit !== undefined)
    problems.push(...(await judge(trial)).map((problem) => `before the restart: ${problem}`));
  const code = await trial.stop();
  if (code !== 0 && control.hit === undefined) problems.push(`the server ended with ${code}`);
  await trial.killAll();
  return problems;
}

/** An operation that hangs in one thread leaves the others alive. */
async function answersMeanwhile(trial: Trial): Promise<readonly string[]> {
  const { hit } = trial.control;
  if (hit === undefined || (hit.isMainThread && hit.pid === trial.server.pid)) return [];
  const response = await fetch(`${trial.server.url}/livez`, { signal: AbortSignal.timeout(10_000) }).catch(String);
  return typeof response === "string" || response.status !== 200 ? [`/livez while ${hit.text} hangs: ${response}`] : [];
}
