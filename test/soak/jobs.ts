import { liveThroughKills } from "./jobs-life.ts";

/* `npm run soak:jobs [kills] [seed]`: 1,000 kills; its short form is test/engine/jobs/life.test.ts. */

const kills = Number(process.argv[2] ?? 1_000);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
console.log(`${kills} kills, seed ${seed}`);
const { problems, ...figures } = await liveThroughKills({ kills, seed, tell: (line) => console.log(line) });
console.log(JSON.stringify(figures));
if (problems.length > 0) throw new Error(`${problems.length} problems, told above`);
