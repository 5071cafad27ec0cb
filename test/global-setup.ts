import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { hasPostgres, removePostgres } from "./support/postgres.ts";
import { testSeed } from "./support/test-seed.ts";

/** Tests that cross threads run the built program: it is built first, once. */
export function setup(): void {
  console.log(`Random tests: seed ${testSeed()}; NUTHATCH_TEST_SEED=${testSeed()} runs the same cases again.`);
  if (!hasPostgres)
    console.log("SKIPPED: all tests with the state in PostgreSQL: the Debian package postgresql is not installed");
  execFileSync(process.execPath, [fileURLToPath(new URL("../bin/prepare.mjs", import.meta.url))], { stdio: "inherit" });
}

/** Ends the PostgreSQL that the first test that needed one has started. */
export function teardown(): void {
  removePostgres(process.env["NUTHATCH_TEST_POSTGRES"] ?? "");
}
