/** Returns the seed of all random numbers in a test run: `vitest.config.ts` or `NUTHATCH_TEST_SEED` sets it. */
export const testSeed = (): number => Number(process.env["NUTHATCH_TEST_SEED"]);
