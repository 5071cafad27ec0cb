/**
 * The test files that the gate leaves out. With these files the gate takes 32 minutes on two cores; its limit is 30. Each
 * file returns to the gate as soon as the tests are fast enough. `npm test` runs all files.
 */
export const NOT_IN_GATE: readonly string[] = [
  "test/docs/shell-blocks.test.ts",
  "test/engine/backup.test.ts",
  "test/engine/cluster-failures.test.ts",
  "test/engine/cluster-kills.test.ts",
  "test/engine/configuration-kills.test.ts",
  "test/engine/many-jobs.test.ts",
  "test/engine/postgres-outages.test.ts",
  "test/engine/postgres-truncations.test.ts",
  "test/engine/s3-failures.test.ts",
  "test/engine/store-copy.test.ts",
];
