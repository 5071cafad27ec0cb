import { walk } from "./walk.ts";

/* `npm run soak [steps] [seed]`: 20,000 steps, some 40 minutes; its short form is test/engine/truncation/history.test.ts. */

const steps = Number(process.argv[2] ?? 20_000);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
console.log(`${steps} steps, seed ${seed}`);
const began = performance.now();
await walk({ steps, seed, tell: (line) => console.log(line) });
console.log(`nothing is lost and no count is wrong after ${Math.round((performance.now() - began) / 1000)} s`);
