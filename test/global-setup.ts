import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { testSeed } from "./support/test-seed.ts";

/** Tests that cross threads run the built program: it is built first, once. */
export function setup(): void {
  console.log(`Random tests: seed ${testSeed()}; NUTHATCH_TEST_SEED=${testSeed()} runs the same cases again.`);
  execFileSync(process.execPath, [fileURLToPath(new URL("../bin/prepare.mjs", import.meta.url))], { stdio: "inherit" });
}
