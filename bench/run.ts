import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { cpus } from "node:os";
import { benchCluster } from "./cluster.ts";
import { benchColdTile } from "./cold-tile.ts";
import { benchConsole } from "./console.ts";
import { benchCoverage } from "./coverage.ts";
import { benchHitPeers, benchWorkers } from "./hit-peers.ts";
import { benchHits } from "./hits.ts";
import { benchJobs } from "./jobs.ts";
import { benchLayers } from "./layers.ts";
import { benchLedger, benchPostgresLedger } from "./ledger.ts";
import { benchLiveUsers } from "./live-users.ts";
import { benchMemory, benchWorld } from "./memory.ts";
import { benchQuota } from "./quota.ts";
import { benchS3 } from "./s3.ts";
import { benchSeed } from "./seed.ts";
import { benchSeedPeers } from "./seed-peers.ts";
import { benchSkip } from "./skip.ts";
import { benchStart } from "./start.ts";
import { benchStores } from "./stores.ts";
import type { BenchLength } from "./support/figures.ts";
import { benchTruncate, benchTruncateUnderLoad } from "./truncate.ts";

/*
 * `npm run bench [name]`: prints medians and ratios, measured in turns in one run (docs/explanation/benchmarking.md).
 * `npm run bench short`: each hot path once, quickly. The figures show large changes only.
 */

const BENCHES: ReadonlyMap<string, (length: BenchLength) => Promise<void>> = new Map([
  ["start", benchStart],
  ["hits", benchHits],
  ["truncate", benchTruncate],
  ["truncate-load", benchTruncateUnderLoad],
  ["live-users", benchLiveUsers],
  ["world", benchWorld],
  ["memory", benchMemory],
  ["seed", benchSeed],
  ["skip", benchSkip],
  ["stores", benchStores],
  ["s3", benchS3],
  ["cluster", benchCluster],
  ["layers", benchLayers],
  ["ledger", benchLedger],
  ["ledger-postgres", benchPostgresLedger],
  ["coverage", benchCoverage],
  ["quota", benchQuota],
  ["jobs", benchJobs],
  ["hit-peers", benchHitPeers],
  ["workers", benchWorkers],
  ["seed-peers", benchSeedPeers],
  ["cold-tile", benchColdTile],
  ["console", benchConsole],
]);

/** The hot paths, whose benches have a short form. */
const HOT_PATHS = ["start", "hits", "seed", "skip", "truncate", "cold-tile"];

const MEMORY = "/dev/shm";
const MEMORY_BYTES = 8 * 2 ** 30;

/**
 * Puts the files of all benches into memory, if there is room. After the deletion of many files ext4 needs ten to twenty
 * times as long for a new file.
 */
function useMemory(): void {
  if (process.env["TMPDIR"] !== undefined) return;
  if (!existsSync(MEMORY)) return;
  const { bavail, bsize } = statfsSync(MEMORY);
  if (bavail * bsize < MEMORY_BYTES) return;
  const directory = mkdtempSync(`${MEMORY}/nuthatch-bench-`);
  // PostgreSQL has its files there as an account of its own.
  chmodSync(directory, 0o1777);
  process.env["TMPDIR"] = directory;
  process.on("exit", () => rmSync(directory, { recursive: true, force: true }));
}

const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
console.log(`node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? "?"}, commit ${commit}`);
const [, , only] = process.argv;
useMemory();
if (only === "short") {
  for (const name of HOT_PATHS) await BENCHES.get(name)?.("short");
} else if (only !== undefined && !BENCHES.has(only)) {
  console.error(`no bench ${JSON.stringify(only)}; there are short, ${[...BENCHES.keys()].join(", ")}`);
  process.exitCode = 2;
} else {
  for (const [name, bench] of BENCHES) if (only === undefined || only === name) await bench("full");
}
