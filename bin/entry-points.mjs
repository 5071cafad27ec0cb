/** The processes and threads. Each has a separate bundle: a file that is read as a whole, and one code cache. */
export const ENTRY_POINTS = [
  "src/cli/main.ts",
  "src/cli/serve.ts",
  "src/app/serving/check-thread.ts",
  "src/app/server/load-thread.ts",
  "src/app/coordinator/coordinator-thread.ts",
  "src/app/renderer/renderer-process.ts",
  "src/app/serving/http-worker-process.ts",
  "src/app/cluster/lead/lead-process.ts",
  "src/state/postgres/postgres-thread.ts",
  "src/store/bridge-thread.ts",
];

/** Runs their bundles. */
export const LAUNCHER = "src/launch/launch.ts";
