import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { hasPostgres, removeSharedPostgres } from "./support/postgres/postgres.ts";
import { runsProgram } from "./support/runs-program.ts";
import { isS3Service, type S3Server, startS3 } from "./support/s3/server.ts";
import { testSeed } from "./support/test-seed.ts";

let s3: S3Server | undefined;

const root = fileURLToPath(new URL("..", import.meta.url));

/** Whether a test file reads the pages of the documentation as they are built. */
const readsPages = (file: string): boolean => /^test\/(docs|packaging)\//.test(file);

/** Builds the parts that the chosen test files need, once, before the first file. Most unit tests need no build. */
function build(files: readonly string[]): void {
  if (!files.some(runsProgram)) return;
  const docs = files.some(readsPages) ? [] : ["--no-docs"];
  execFileSync(process.execPath, [`${root}bin/prepare.mjs`, ...docs], { stdio: "inherit" });
}

export async function setup({ vitest }: TestProject): Promise<void> {
  console.log(`Random tests: seed ${testSeed()}; NUTHATCH_TEST_SEED=${testSeed()} runs the same cases again.`);
  if (!hasPostgres)
    console.log("SKIPPED: all tests with the state in PostgreSQL: the Debian package postgresql is not installed");
  build(vitest.state.getPaths().map((file) => file.slice(root.length)));
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
