/** The seed of all that is random in the tests of this run: `vitest.config.ts` chooses it, `NUTHATCH_TEST_SEED` sets it. */
export const testSeed = (): number => Number(process.env["NUTHATCH_TEST_SEED"]);
