import type { Scenario } from "../scenario.ts";
import type { JobView, Trial } from "../trial.ts";
import { change, isDone } from "./change.ts";
import { layersOf } from "./layers.ts";

const view = (job: JobView | undefined): string => JSON.stringify(job);

const seed: Scenario = {
  name: "seed",
  options: layersOf(["a", "b"]),
  begin: (trial) => {
    let id: number | undefined;
    return {
      prepare: () => trial.seeded("b"),
      act: async () => {
        id = await trial.job({ layer: "a", type: "seed" });
        await trial.ended(id);
      },
      check: async () => {
        const job = await trial.ended(id);
        return id === undefined || (job?.state === "done" && job.tiles.total === 21) ? [] : [`the seed: ${view(job)}`];
      },
    };
  },
};

const reseed: Scenario = {
  name: "reseed",
  options: layersOf(["a", "b"]),
  begin: (trial) => {
    let id: number | undefined;
    const note = (job: JobView | undefined, version: number): void => {
      if (job?.outcome === "done") trial.floors.set("a", version);
    };
    return {
      prepare: () => trial.seeded("a"),
      act: async () => {
        trial.map.version++;
        id = await trial.job({ layer: "a", type: "reseed" });
        note(await trial.ended(id), 2);
      },
      check: async () => {
        const job = await trial.ended(id);
        note(job, 2);
        return id === undefined || job?.state === "done" ? [] : [`the reseed: ${view(job)}`];
      },
    };
  },
};

/** The first tile of other parameters writes a file that describes them. */
const seedOfStyle: Scenario = {
  name: "seed of a style",
  options: layersOf(["a"], "", 'parameterFilters: [{ type: string, key: STYLES, default: "", values: ["", x] }]'),
  begin: (trial) => {
    let id: number | undefined;
    return {
      prepare: () => trial.seeded("a", { zoomStop: 0 }),
      act: async () => {
        id = await trial.job({ layer: "a", type: "seed", zoomStop: 0, parameters: { STYLES: "x" } });
        await trial.ended(id);
      },
      check: async () => {
        const job = await trial.ended(id);
        return id === undefined || job?.state === "done" ? [] : [`the seed: ${view(job)}`];
      },
    };
  },
};

const misses: Scenario = {
  name: "misses of users",
  options: layersOf(["a"]),
  begin: (trial) => {
    const served: string[] = [];
    return {
      act: async () => {
        for (const [x, y] of [
          [0, 0],
          [3, 3],
        ] as const)
          if ((await trial.versionAt("a", 2, x, y)) !== undefined) served.push(`${x}/${y}`);
      },
      check: async () => {
        const missing: string[] = [];
        for (const at of served) {
          const answer = await trial.send("GET", `/xyz/a/2/${at}.png`);
          if (answer.status !== 200) missing.push(`${at}: ${answer.status}`);
        }
        return missing;
      },
    };
  },
};

/** Requests a seed that works for minutes, and waits until it has stored a tile. */
async function begunSlowSeed(trial: Trial): Promise<number> {
  const id = await trial.job({ layer: "a", type: "seed", zoomStop: 5, rateLimit: 2 });
  await trial.when(
    "the seed works",
    async () => ((await trial.get<JobView>(`/api/v1/jobs/${id}`))?.tiles.stored ?? 0) > 0,
  );
  return id ?? 0;
}

const outcomeOf = (id: () => number) => async (trial: Trial) => {
  const job = await trial.get<JobView>(`/api/v1/jobs/${id()}`);
  return job?.state === "aborted" ? "aborted" : job?.paused === true ? "paused" : "live";
};

/** A change of a running seed. The oracle waits for jobs that are live: so the check is before its end, or cancels it. */
function ofSlowSeed(
  name: string,
  request: (trial: Trial, id: number) => ReturnType<Trial["send"]>,
  after: string,
): Scenario {
  return {
    name,
    options: layersOf(["a"]),
    begin: (trial) => {
      let id = 0;
      let isAnswered = false;
      const state = outcomeOf(() => id);
      return {
        prepare: async () => {
          id = await begunSlowSeed(trial);
        },
        act: async () => {
          isAnswered = isDone(await request(trial, id));
        },
        settle: async () => {
          const found = await state(trial);
          if (isAnswered && found !== after) return [`the seed is ${found}, and was answered to be ${after}`];
          const again = await request(trial, id);
          const last = await state(trial);
          if (last !== after) return [`the repeated request: ${again.status} ${again.text}, then ${last}`];
          return [];
        },
        check: async () => {
          await trial.send("POST", `/api/v1/jobs/${id}/cancel`);
          return [];
        },
      };
    },
  };
}

const killAll = ofSlowSeed("kill all", (trial) => trial.send("POST", "/rest/seed", "kill_all=all"), "aborted");
const cancel = ofSlowSeed("cancel a job", (trial, id) => trial.send("POST", `/api/v1/jobs/${id}/cancel`), "aborted");
const pause = ofSlowSeed("pause a job", (trial, id) => trial.send("POST", `/api/v1/jobs/${id}/pause`), "paused");

const batch: Scenario = {
  name: "jobs of several layers",
  options: layersOf(["a", "b", "c"]),
  begin: (trial) => {
    let isAnswered = false;
    return {
      act: async () => {
        const request = {
          layers: ["*"],
          type: "seed",
          gridSet: "EPSG:900913",
          zoomStart: 0,
          zoomStop: 1,
          threadCount: 1,
        };
        const answer = await trial.send("POST", "/api/v1/jobs", request, { "Idempotency-Key": "one" });
        isAnswered = isDone(answer);
        const { jobs }: { jobs?: readonly { id: number }[] } = isAnswered ? JSON.parse(answer.text) : {};
        for (const { id } of jobs ?? []) trial.accepted.add(id);
        for (const { id } of jobs ?? []) await trial.ended(id);
      },
      check: async () => {
        const jobs = (await trial.get<{ jobs: JobView[] }>("/api/v1/jobs"))?.jobs ?? [];
        const layers = String([...new Set(jobs.map(({ layer }) => layer))].sort());
        const isWhole =
          jobs.length === 0 ? !isAnswered : jobs.length % 3 === 0 && layers === "a,b,c" && jobs.length < 10;
        return isWhole ? [] : [`the request has the jobs ${JSON.stringify(jobs)}`];
      },
    };
  },
};

const truncateRange: Scenario = {
  name: "truncate a range",
  options: layersOf(["a", "b"]),
  begin: (trial) => {
    let id: number | undefined;
    return {
      prepare: async () => {
        await trial.seeded("a");
        await trial.seeded("b");
      },
      act: async () => {
        trial.map.version++;
        id = await trial.job({ layer: "a", type: "truncate" });
        if ((await trial.ended(id))?.outcome === "done") trial.floors.set("a", 2);
      },
      check: async () => {
        const job = await trial.ended(id);
        if (job?.outcome === "done") trial.floors.set("a", 2);
        return id === undefined || job?.state === "done" ? [] : [`the truncate: ${view(job)}`];
      },
    };
  },
};

const schedule = { cron: "0 3 1 1 *", job: { layer: "a", gridSet: "EPSG:900913", zoomStop: 1 } };

const putSchedule = change({
  name: "put a schedule",
  options: layersOf(["a"]),
  prepare: (trial) => trial.send("PUT", "/api/v1/schedules/s", schedule),
  request: (trial) => trial.send("PUT", "/api/v1/schedules/s", { ...schedule, cron: "0 4 1 1 *" }),
  state: async (trial) => (await trial.get<{ cron: string }>("/api/v1/schedules/s"))?.cron ?? "none",
  before: "0 3 1 1 *",
  after: "0 4 1 1 *",
});

const deleteSchedule = change({
  name: "delete a schedule",
  options: layersOf(["a"]),
  prepare: (trial) => trial.send("PUT", "/api/v1/schedules/s", schedule),
  request: (trial) => trial.send("DELETE", "/api/v1/schedules/s"),
  state: async (trial) => String((await trial.send("GET", "/api/v1/schedules/s")).status),
  before: "200",
  after: "404",
});

const runSchedule: Scenario = {
  name: "run a schedule",
  options: layersOf(["a"]),
  begin: (trial) => {
    let isAnswered = false;
    const jobs = async () => (await trial.get<{ jobs: JobView[] }>("/api/v1/jobs?schedule=s"))?.jobs ?? [];
    return {
      prepare: async () => void (await trial.send("PUT", "/api/v1/schedules/s", schedule)),
      act: async () => {
        isAnswered = isDone(await trial.send("POST", "/api/v1/schedules/s/run"));
        for (const { id } of await jobs()) await trial.ended(id);
      },
      check: async () => {
        const made = await jobs();
        const { runs } = (await trial.get<{ runs: readonly { job: number | null }[] }>(
          "/api/v1/schedules/s?runs=9",
        )) ?? { runs: [] };
        const problems =
          made.length > 1 || (isAnswered && made.length === 0) ? [`the run has made ${made.length} jobs`] : [];
        const inRuns = runs.filter(({ job }) => job !== null).map(({ job }) => job);
        if (String(inRuns) !== String(made.map(({ id }) => id)))
          problems.push(`runs ${inRuns}, jobs ${JSON.stringify(made)}`);
        return problems;
      },
    };
  },
};

export const JOBS: readonly Scenario[] = [
  seed,
  reseed,
  seedOfStyle,
  misses,
  killAll,
  cancel,
  pause,
  batch,
  truncateRange,
  putSchedule,
  deleteSchedule,
  runSchedule,
];
