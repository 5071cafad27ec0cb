import { liveRandomly } from "./random-life.ts";

/* `npm run soak [seed]`: 200,000 tiles and 50 kills (a quarter of an hour); its short form is test/engine/random-life.test.ts. */

const seed = Number(process.argv[2] ?? Date.now() % 2 ** 31);
console.log(`seed ${seed}`);
await liveRandomly({ kills: 50, tiles: 200_000, seed, tell: (line) => console.log(line) });
