/*
 * The jobs of a server as a plain machine of states (decisions 5), for tests that hold the server against it. The upstream
 * of such a test answers nothing unless it is let, and there are places for all tasks: so a job that may run is running.
 */

export interface ModelJob {
  /** The number of the operation that has made it. */
  readonly key: number;
  readonly layer: string;
  readonly type: "seed" | "reseed" | "truncate";
  readonly threads: number;
  /** `accepted`: nothing holds it, and it has not got its places yet. */
  readonly state: "accepted" | "running" | "paused" | "done" | "aborted";
  /** Its live tasks, by their place among all it was made with. */
  readonly tasks: readonly number[];
}

export type Model = readonly ModelJob[];

export type KillScope = "all" | "running" | "pending";

/** What an operator asks. `at`: which of the jobs that there are, `key`: of the job it makes. */
export type Operation =
  | {
      readonly do: "seed";
      readonly key: number;
      readonly layer: string;
      readonly type: "seed" | "reseed";
      readonly threads: number;
    }
  | { readonly do: "truncate"; readonly key: number; readonly layer: string }
  | { readonly do: "mass truncate"; readonly layer: string }
  | { readonly do: "pause" | "resume" | "cancel"; readonly job: number }
  | { readonly do: "retry"; readonly key: number; readonly job: number }
  | { readonly do: "kill task"; readonly job: number; readonly task: number }
  | { readonly do: "kill"; readonly layer: string | undefined; readonly scope: KillScope };

export interface Applied {
  readonly model: Model;
  /** The status, and what a kill has ended: `KEY.TASK R` or `P`. */
  readonly answer: string;
}

export const isLive = ({ state }: ModelJob): boolean => state !== "done" && state !== "aborted";

const at = (model: Model, key: number): ModelJob => {
  const job = model.find((one) => one.key === key);
  if (job === undefined) throw new RangeError(`the model has no job ${key}`);
  return job;
};

const withJob = (model: Model, changed: ModelJob): Model =>
  model.map((job) => (job.key === changed.key ? changed : job));

const made = (model: Model, job: Pick<ModelJob, "key" | "layer" | "type" | "threads">): Model => [
  ...model,
  { ...job, state: "accepted", tasks: Array.from({ length: job.threads }, (_, n) => n) },
];

export function apply(model: Model, operation: Operation): Applied {
  switch (operation.do) {
    case "seed":
      return { model: made(model, operation), answer: "200" };
    case "truncate":
      return { model: made(model, { ...operation, type: "truncate", threads: 1 }), answer: "200" };
    case "mass truncate":
      return { model, answer: "200" };
    case "pause":
    case "resume":
    case "cancel":
    case "retry":
      return applyToJob(model, at(model, operation.job), operation);
    case "kill task": {
      const { layer } = at(model, operation.job);
      return kill(model, (job, task) => job.key === operation.job && job.layer === layer && task === operation.task);
    }
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
  operation: Extract<Operation, { readonly do: "pause" | "resume" | "cancel" | "retry" }>,
): Applied {
  switch (operation.do) {
    case "pause":
      if (!isLive(job)) return { model, answer: "409" };
      return { model: withJob(model, { ...job, state: "paused" }), answer: "200" };
    case "resume":
      if (!isLive(job)) return { model, answer: "409" };
      if (job.state !== "paused") return { model, answer: "200" };
      return { model: withJob(model, { ...job, state: "accepted" }), answer: "200" };
    case "cancel":
      if (job.state === "done") return { model, answer: "409" };
      return { model: withJob(model, { ...job, state: "aborted", tasks: [] }), answer: "200" };
    case "retry":
      // Never may a job of the tests be aborted with nothing left: none does its work before it is let.
      if (job.state !== "aborted") return { model, answer: "409" };
      return { model: made(model, { ...job, key: operation.key }), answer: "201" };
  }
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

/** The upstream answers until nothing runs any more. */
export const finished = (model: Model): Model =>
  settled(model).map((job) => (job.state === "running" ? { ...job, state: "done", tasks: [] } : job));

/** What may have become of two operations at once: one after the other, whether places were dealt in between or not. */
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
