import fc from "fast-check";
import { expect, test } from "vitest";
import {
  apply,
  applyBoth,
  finished,
  isLive,
  type KillScope,
  type Model,
  type ModelTerms,
  type Operation,
  settled,
} from "../../support/jobs/operators-model.ts";
import { OperatedServer, type Seen } from "../../support/server/operated-server.ts";
import { job as jobOf, rows, usage } from "../../support/server/server.ts";
import { scanTiles } from "../../support/stores/exact.ts";
import { testSeed } from "../../support/test-seed.ts";
import { until } from "../../support/until.ts";

/*
 * Two operators at once, against a plain model of jobs: one operation after the other, or two at the same moment, which
 * must come out as if one had been first. After each operation the classic list, /api/v1 and the events must agree with the model.
 */

const LAYERS = ["a", "b"] as const;
/** `NUTHATCH_RUNS=100` explores for longer. */
const RUNS = Number(process.env["NUTHATCH_RUNS"] ?? 3);
const SEED = testSeed();
/** So that there are places for all their tasks at once. */
const MOST_JOBS = 10;
const SETTLED_MS = 60_000;

/** An operation before it is known which jobs there are: `job` counts them round. */
type Wish =
  | { readonly do: "seed"; readonly layer: string; readonly type: "seed" | "reseed"; readonly threads: number }
  | { readonly do: "truncate" | "supersede" | "mass truncate" | "undo"; readonly layer: string }
  | { readonly do: "pause" | "resume" | "cancel" | "retry" | "delete"; readonly job: number }
  | { readonly do: "change"; readonly job: number; readonly terms: Partial<ModelTerms> }
  | { readonly do: "kill task"; readonly job: number; readonly task: number }
  | { readonly do: "kill"; readonly layer: string | undefined; readonly scope: KillScope };

const layer = fc.constantFrom(...LAYERS);
/** Mostly one of the first: two operations at once are about the same one often enough. */
const job = fc.oneof({ weight: 3, arbitrary: fc.nat(2) }, { weight: 1, arbitrary: fc.nat(20) });
const wish: fc.Arbitrary<Wish> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("seed" as const),
      layer,
      type: fc.constantFrom("seed" as const, "reseed" as const),
      threads: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom("truncate" as const, "supersede" as const, "mass truncate" as const, "undo" as const),
      layer,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("change" as const),
      job,
      terms: fc.record(
        {
          priority: fc.constantFrom(1, 10, 100),
          // So high that nothing waits for it.
          rateLimit: fc.constantFrom(1_000_000, null),
          window: fc.constantFrom("closed" as const, null),
        },
        { requiredKeys: [] },
      ),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constantFrom(
        "pause" as const,
        "pause" as const,
        "resume" as const,
        "resume" as const,
        "cancel" as const,
        "retry" as const,
        "delete" as const,
      ),
      job,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("kill task" as const), job, task: fc.nat(2) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("kill" as const),
      layer: fc.option(layer, { nil: undefined }),
      scope: fc.constantFrom<KillScope>("all", "running", "pending"),
    }),
  },
);

interface State {
  jobs: Model;
  nextKey: number;
}

/** Undefined when the operation needs a job and there is none, or when there are too many. */
function operationOf(wanted: Wish, { jobs }: State, key: number): Operation | undefined {
  const target = "job" in wanted ? jobs[wanted.job % Math.max(1, jobs.length)] : undefined;
  switch (wanted.do) {
    case "seed":
      return jobs.length >= MOST_JOBS ? undefined : { ...wanted, key };
    case "truncate":
    case "supersede":
      return { do: wanted.do, layer: wanted.layer, key };
    case "mass truncate":
    case "undo":
      return { do: wanted.do, layer: wanted.layer };
    case "change":
      // The server refuses a change without fields. A truncation that is done at once cannot be changed.
      if (target === undefined || target.type === "truncate" || Object.keys(wanted.terms).length === 0)
        return undefined;
      return { do: wanted.do, job: target.key, terms: wanted.terms };
    case "kill":
      return wanted;
    case "retry":
      return target === undefined || jobs.length >= MOST_JOBS ? undefined : { do: wanted.do, job: target.key, key };
    case "kill task":
      if (target === undefined) return undefined;
      return { do: wanted.do, job: target.key, task: wanted.task % target.threads };
    default:
      return target === undefined ? undefined : { do: wanted.do, job: target.key };
  }
}

type Step = fc.AsyncCommand<State, OperatedServer>;

/** Polls until the server agrees with one of the models, selects that model, and compares all resources with it. */
async function settle(state: State, real: OperatedServer, models: readonly Model[]): Promise<void> {
  let last: { readonly seen: Seen; readonly wrong: string[] } | undefined;
  const found = await until(
    "the server is as a model is",
    async () => {
      const seen = await real.look();
      const model = models.find((one) => real.differences(one, seen, true).length === 0);
      last = { seen, wrong: models.map((one) => real.differences(one, seen, true).join("\n")) };
      return model === undefined ? undefined : { model, seen };
    },
    SETTLED_MS,
  ).catch((error: unknown) => {
    throw new Error(`${error}\n${last?.wrong.join("\nor\n")}`);
  });
  state.jobs = found.model;
  await real.agree(found.model, found.seen);
}

class Request implements Step {
  readonly #wishes: readonly { readonly wish: Wish; readonly isClassic: boolean }[];

  constructor(wishes: readonly { readonly wish: Wish; readonly isClassic: boolean }[]) {
    this.#wishes = wishes;
  }

  check(state: Readonly<State>): boolean {
    return this.#wishes.every(({ wish: wanted }) => operationOf(wanted, state, 0) !== undefined);
  }

  async run(state: State, real: OperatedServer): Promise<void> {
    const operations = this.#wishes.flatMap(({ wish: wanted }) => operationOf(wanted, state, state.nextKey++) ?? []);
    const answers = await Promise.all(
      operations.map((operation, n) => real.perform(operation, this.#wishes[n]?.isClassic ?? true)),
    );
    // At once, before any further change: the answered change is visible.
    const seen = await real.look();
    const said = answers.map((answer) => real.inModelWords(answer));
    const [first, second] = operations;
    if (first === undefined) return;
    const ways =
      second === undefined
        ? [apply(state.jobs, first)].map(({ model, answer }) => ({ model, answers: [answer] }))
        : applyBoth(state.jobs, [first, second]);
    const answered = ways.filter((way) => JSON.stringify(way.answers) === JSON.stringify(said));
    if (answered.length === 0)
      throw new Error(`the answers were ${said.join(" and ")}, and not ${ways.map((way) => way.answers).join(" or ")}`);
    const visible = answered.filter(({ model }) => real.differences(model, seen, false).length === 0);
    if (visible.length === 0)
      throw new Error(answered.map(({ model }) => real.differences(model, seen, false).join("\n")).join("\nor\n"));
    await settle(
      state,
      real,
      visible.map(({ model }) => settled(model)),
    );
  }

  toString(): string {
    return this.#wishes
      .map(({ wish: wanted, isClassic }) => `${isClassic ? "classic" : "api"} ${JSON.stringify(wanted)}`)
      .join(" and ");
  }
}

/** The upstream answers, until nothing runs. */
class Finish implements Step {
  check(): boolean {
    return true;
  }

  async run(state: State, real: OperatedServer): Promise<void> {
    real.history.push("the upstream answers");
    real.held.isOpen = true;
    real.held.release();
    await settle(state, real, [finished(state.jobs)]);
    real.held.isOpen = false;
  }

  toString(): string {
    return "the upstream answers";
  }
}

class Restart implements Step {
  readonly #signal: "SIGTERM" | "SIGKILL";

  constructor(signal: "SIGTERM" | "SIGKILL") {
    this.#signal = signal;
  }

  check(): boolean {
    return true;
  }

  async run(state: State, real: OperatedServer): Promise<void> {
    real.history.push(this.#signal);
    await real.restart(this.#signal);
    await settle(state, real, [settled(state.jobs)]);
  }

  toString(): string {
    return this.#signal;
  }
}

const requested = fc.record({ wish, isClassic: fc.boolean() });
const steps: fc.Arbitrary<Step>[] = [
  requested.map((one) => new Request([one])),
  requested.map((one) => new Request([one])),
  fc.tuple(requested, requested).map((both) => new Request(both)),
  fc.tuple(requested, requested).map((both) => new Request(both)),
  fc.constantFrom(new Restart("SIGTERM"), new Restart("SIGKILL"), new Finish(), new Finish()),
];
const commands = fc.commands(steps, { size: "max", maxCommands: 25 });

/** At the end resumes all jobs, waits for their ends and compares all counts. */
async function finish(state: State, real: OperatedServer): Promise<void> {
  for (const { key } of state.jobs.filter((one) => one.state === "paused"))
    await real.perform({ do: "resume", job: key }, false);
  const resumed = state.jobs.reduce((jobs, { key, state: before }) => {
    return before === "paused" ? apply(jobs, { do: "resume", job: key }).model : jobs;
  }, state.jobs);
  await settle(state, real, [settled(resumed)]);
  await new Finish().run(state, real);
  expect(state.jobs.some(isLive)).toBe(false);
  expect(await rows(real.server)).toEqual([]);
  const { jobs } = await real.look();
  for (const { outcome, tiles } of jobs)
    if (outcome === "done" && tiles.deleted === undefined) expect(tiles.stored + tiles.skipped).toBe(tiles.total);
  const { total } = await usage(real.server);
  const { tiles, bytes } = await scanTiles(real.server.dataDir);
  expect(total).toEqual({ tiles, bytes });
  const history = await Promise.all(jobs.map(({ id }) => jobOf(real.server, id)));
  await real.restart("SIGKILL");
  expect(await Promise.all(jobs.map(({ id }) => jobOf(real.server, id)))).toEqual(history);
}

test(
  `two operators, who end, pause, resume, change, retry, delete, truncate, undo and restart, never see what contradicts (seed ${SEED})`,
  async () => {
    const property = fc.asyncProperty(commands, async (chosen) => {
      const real = await OperatedServer.start(LAYERS);
      const state: State = { jobs: [], nextKey: 0 };
      try {
        await fc.asyncModelRun(() => ({ model: state, real }), chosen);
        await finish(state, real);
      } catch (error) {
        throw new Error([...real.history, String(error), real.server.log().slice(-2000)].join("\n"), { cause: error });
      } finally {
        await real.close();
      }
    });
    await fc.assert(property, {
      seed: SEED,
      numRuns: RUNS,
      // Times vary, so a smaller program may pass although this program failed.
      endOnFailure: true,
    });
  },
  RUNS * 45_000,
);
