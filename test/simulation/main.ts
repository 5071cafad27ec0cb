import { parseArgs } from "node:util";
import { exitWithUsage } from "../support/usage.ts";
import { simulatedConfiguration } from "./configuration.ts";
import { simulateWorld } from "./world.ts";

exitWithUsage(`npm run simulate -- [--seed N] [--days D | --hours H | --minutes M] [--story] [--digest] [--lines L]

Simulates a server for D days (default: 1), or until M minutes of the machine have passed. Each world of some hours has
a seed of its own, which repeats it. Ends with 1 after a violation, with the seed, the last events and the command.

--seed N     the seed of the first world. Default: a new one, which is printed
--story      prints all that happens
--digest     prints a digest of the events of each world
--lines L    the number of last events of a violation. Default: 60`);

/** The hours of one world: short enough that a failure is repeated within a minute. */
const WORLD_HOURS = 6;

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    days: { type: "string" },
    hours: { type: "string" },
    minutes: { type: "string" },
    lines: { type: "string", default: "60" },
    story: { type: "boolean", default: false },
    digest: { type: "boolean", default: false },
  },
});
const first = Number(values.seed ?? Date.now() % 2 ** 31);
const hours = values.hours !== undefined ? Number(values.hours) : Number(values.days ?? 1) * 24;
const limitMs = values.minutes === undefined ? undefined : Number(values.minutes) * 60_000;
const commit = process.env["NUTHATCH_COMMIT"] ?? "unknown";

// The product makes thousands of errors that nobody reads.
if (!values.story) Error.stackTraceLimit = 2;
const configuration = await simulatedConfiguration();
const startMs = performance.now();
const sum = { hours: 0, faults: 0, reads: 0, jobsDone: 0, tilesProved: 0 };
console.log(`simulation of commit ${commit} from seed ${first}`);
for (let world = 0; limitMs === undefined ? sum.hours < hours : performance.now() - startMs < limitMs; world++) {
  const seed = first + world;
  const left = limitMs === undefined ? Math.min(WORLD_HOURS, hours - sum.hours) : WORLD_HOURS;
  const result = await simulateWorld({ seed, hours: left, configuration, echo: values.story });
  sum.hours += result.hours;
  sum.faults += result.faults;
  sum.reads += result.counts.reads;
  sum.jobsDone += result.counts.jobsDone;
  sum.tilesProved += result.counts.tilesProved;
  if (values.digest) console.log(`seed ${seed}: ${result.digest}`);
  if (result.problems.length > 0) {
    console.log(`${result.story.last(Number(values.lines))}\n`);
    for (const problem of result.problems.slice(0, 12)) console.log(`PROBLEM ${problem}`);
    console.log(
      `commit ${commit}, seed ${seed}, after ${result.hours.toFixed(2)} simulated hours and ${(process.cpuUsage().user / 1e6).toFixed(1)} s of a processor. Again: npm run simulate -- --seed ${seed} --hours ${left}`,
    );
    process.exit(1);
  }
}
const { user, system } = process.cpuUsage();
const seconds = (user + system) / 1e6;
console.log(
  `${sum.hours.toFixed(1)} simulated hours in ${seconds.toFixed(1)} s of a processor (${Math.round((sum.hours * 3_600) / seconds)} per hour): ${sum.faults} faults, ${sum.reads} reads, ${sum.jobsDone} jobs done, ${sum.tilesProved} tiles of jobs proved`,
);
process.exit(0);
