import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { hasPostgres, removeSharedPostgres } from "./support/postgres.ts";
import { isS3Service, type S3Server, startS3 } from "./support/s3-server.ts";
import { testSeed } from "./support/test-seed.ts";

let s3: S3Server | undefined;

/** Tests that cross threads run the built program: it is built first, once. */
export async function setup(): Promise<void> {
  console.log(`Random tests: seed ${testSeed()}; NUTHATCH_TEST_SEED=${testSeed()} runs the same cases again.`);
  if (!hasPostgres)
    console.log("SKIPPED: all tests with the state in PostgreSQL: the Debian package postgresql is not installed");
  execFileSync(process.execPath, [fileURLToPath(new URL("../bin/prepare.mjs", import.meta.url))], { stdio: "inherit" });
  const wanted = process.env["NUTHATCH_TEST_S3"];
  if (wanted === undefined || !isS3Service(wanted)) return;
  s3 = await startS3(wanted);
  process.env["NUTHATCH_TEST_S3"] = s3.endpoint;
}

/** Ends the PostgreSQL that the first test that needed one has started, and the service of S3. */
export async function teardown(): Promise<void> {
  await s3?.[Symbol.asyncDispose]();
  removeSharedPostgres();
}
