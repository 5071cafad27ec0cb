/*
 * The jobs of a server as a plain machine of states (`docs/reference/wire-format.md`, Task list), for tests that hold
 * the server against it. The upstream of such a test answers nothing unless it is let, and there are places for all
 * tasks: so a job that may run is running.
 */

export interface ModelJob {
  /** The number of the operation that created the job. */
  readonly key: number;
  readonly layer: string;
  readonly type: "seed" | "reseed" | "truncate";
  readonly threads: number;
  /** `accepted`: the job may run but does not have its permits yet. */
  readonly state: "accepted" | "running" | "paused" | "done" | "aborted";
  /** The indexes of its live tasks among all its tasks. */
  readonly tasks: readonly number[];
  readonly terms: ModelTerms;
  /**
   * The effect of the window: `held` pauses the job; `released` means that an operator resumed it outside the window.
   */
  readonly hold: "held" | "released" | null;
}

/** How a job runs. A window stays closed for the whole test. */
export interface ModelTerms {
  readonly priority: number;
  readonly rateLimit: number | null;
  readonly window: "closed" | null;
}

const STANDARD_TERMS: ModelTerms = { priority: 10, rateLimit: null, window: null };

export type Model = readonly ModelJob[];

export type KillScope = "all" | "running" | "pending";

/** A request of an operator. `at` selects one of the existing jobs; `key` is the key of the new job. */
export type Operation =
  | {
      readonly do: "seed";
      readonly key: number;
      readonly layer: string;
      readonly type: "seed" | "reseed";
      readonly threads: number;
    }
  | { readonly do: "truncate" | "supersede"; readonly key: number; readonly layer: string }
  | { readonly do: "mass truncate" | "undo"; readonly layer: string }
  | { readonly do: "delete"; readonly job: number }
  | { readonly do: "change"; readonly job: number; readonly terms: Partial<ModelTerms> }
  | { readonly do: "pause" | "resume" | "cancel"; readonly job: number }
  | { readonly do: "retry"; readonly key: number; readonly job: number }
  | { readonly do: "kill task"; readonly job: number; readonly task: number }
  | { readonly do: "kill"; readonly layer: string | undefined; readonly scope: KillScope };

export interface Applied {
  readonly model: Model;
  /** The status, and the tasks that a kill has ended: `KEY.TASK R` or `P`. */
  readonly answer: string;
}

export const isLive = ({ state }: ModelJob): boolean => state !== "done" && state !== "aborted";

const withJob = (model: Model, changed: ModelJob): Model =>
  model.map((job) => (job.key === changed.key ? changed : job));

function made(
  model: Model,
  job: Pick<ModelJob, "key" | "layer" | "type" | "threads">,
  terms: ModelTerms = STANDARD_TERMS,
): Model {
  const { key, layer, type, threads } = job;
  const tasks = Array.from({ length: threads }, (_, n) => n);
  const held =
    terms.window === "closed"
      ? ({ state: "paused", hold: "held" } as const)
      : ({ state: "accepted", hold: null } as const);
  return [...model, { key, layer, type, threads, tasks, terms, ...held }];
}

const aborted = (job: ModelJob): ModelJob => ({ ...job, state: "aborted", tasks: [] });

export function apply(model: Model, operation: Operation): Applied {
  switch (operation.do) {
    case "seed":
      return { model: made(model, operation), answer: "200" };
    case "truncate":
      return { model: made(model, { ...operation, type: "truncate", threads: 1 }), answer: "200" };
    case "supersede": {
      const isEnded = (job: ModelJob) => job.layer === operation.layer && job.type !== "truncate" && isLive(job);
      const left = model.map((job) => (isEnded(job) ? aborted(job) : job));
      return { model: made(left, { ...operation, type: "truncate", threads: 1 }), answer: "200" };
    }
    case "mass truncate":
      return { model, answer: "200" };
    case "undo":
      // The model does not know whether the truncation can be undone; an undo changes no job.
      return { model, answer: "200 or 409" };
    case "pause":
    case "resume":
    case "cancel":
    case "retry":
    case "delete":
    case "change": {
      const job = model.find((one) => one.key === operation.job);
      // Another operator has deleted the job since.
      return job === undefined ? { model, answer: "404" } : applyToJob(model, job, operation);
    }
    case "kill task":
      return kill(model, (job, task) => job.key === operation.job && task === operation.task);
    case "kill":
      return kill(
        model,
        (job) =>
          (operation.layer === undefined || job.layer === operation.layer) &&
          (operation.scope === "all" || (operation.scope === "running") === (job.state === "running")),
      );
  }
}

function applyToJob(
  model: Model,
  job: ModelJob,
  operation: Extract<Operation, { readonly do: "pause" | "resume" | "cancel" | "retry" | "delete" | "change" }>,
): Applied {
  switch (operation.do) {
    case "pause":
      if (!isLive(job)) return { model, answer: "409" };
      return { model: withJob(model, { ...job, state: "paused", hold: null }), answer: "200" };
    case "resume":
      if (!isLive(job)) return { model, answer: "409" };
      if (job.state !== "paused") return { model, answer: "200" };
      return { model: withJob(model, resumeJob(job)), answer: "200" };
    case "cancel":
      if (job.state === "done") return { model, answer: "409" };
      return { model: withJob(model, aborted(job)), answer: "200" };
    case "retry":
      // Never may a job of the tests be aborted with nothing left: none does its work before it is let.
      if (job.state !== "aborted") return { model, answer: "409" };
      return { model: made(model, { ...job, key: operation.key }, job.terms), answer: "201" };
    case "delete":
      if (isLive(job)) return { model, answer: "409" };
      return { model: model.filter((one) => one !== job), answer: "204" };
    case "change":
      if (!isLive(job)) return { model, answer: "409" };
      return { model: withJob(model, changed(job, operation.terms)), answer: "200" };
  }
}

/** Resumes a job for an operator, even if the job's window is closed. */
const resumeJob = (job: ModelJob): ModelJob => ({
  ...job,
  state: "accepted",
  hold: job.terms.window === null ? null : "released",
});

function changed(job: ModelJob, change: Partial<ModelTerms>): ModelJob {
  const terms = { ...job.terms, ...change };
  // A new window applies at once; a resume under the previous window no longer counts.
  const hold = change.window !== undefined && job.hold === "released" ? null : job.hold;
  if (terms.window === null && hold === "held") return { ...job, terms, hold: null, state: "accepted" };
  if (terms.window === "closed" && hold === null && job.state !== "paused")
    return { ...job, terms, hold: "held", state: "paused" };
  return { ...job, terms, hold };
}

function kill(model: Model, choose: (job: ModelJob, task: number) => boolean): Applied {
  const killed: string[] = [];
  const next = model.map((job): ModelJob => {
    if (!isLive(job)) return job;
    const chosen = job.tasks.filter((task) => choose(job, task));
    for (const task of chosen) killed.push(`${job.key}.${task} ${job.state === "running" ? "R" : "P"}`);
    const tasks = job.tasks.filter((task) => !chosen.includes(task));
    return chosen.length === 0 ? job : { ...job, tasks, state: tasks.length === 0 ? "aborted" : job.state };
  });
  return { model: next, answer: ["200", ...killed.sort()].join(" ") };
}

/** Everything has got its places; a truncate waits for no upstream. */
export const settled = (model: Model): Model =>
  model.map((job) => {
    if (job.state !== "accepted") return job;
    return job.type === "truncate" ? { ...job, state: "done", tasks: [] } : { ...job, state: "running" };
  });

/** Returns the model after the upstream has answered everything: no job runs any more. */
export const finished = (model: Model): Model =>
  settled(model).map((job) => (job.state === "running" ? { ...job, state: "done", tasks: [] } : job));

/**
 * Returns the possible results of two concurrent operations: one after the other, with or without new turns in
 * between.
 */
export function applyBoth(
  model: Model,
  [first, second]: readonly [Operation, Operation],
): { readonly model: Model; readonly answers: readonly [string, string] }[] {
  return [false, true].flatMap((swapped) =>
    [false, true].map((dealt) => {
      const one = apply(model, swapped ? second : first);
      const two = apply(dealt ? settled(one.model) : one.model, swapped ? first : second);
      return { model: two.model, answers: swapped ? [two.answer, one.answer] : [one.answer, two.answer] };
    }),
  );
}
