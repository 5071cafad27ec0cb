const { readdirSync } = require("node:fs");
const { dirname, join } = require("node:path");

/** The modules of src/, lowest first: a module imports only itself and lower ones (ARCHITECTURE.md). Tests may look higher. */
const modules = [
  "launch",
  "lib",
  "body",
  "state",
  "grid",
  "layer",
  "image",
  "source",
  "store",
  "ledger",
  "render",
  "cache",
  "quota",
  "plan",
  "truncation",
  "jobs",
  "schedule",
  "feed",
  "webhook",
  "account",
  "activity",
  "configuration",
  "coordinator",
  "http",
  "cluster",
  "app",
  "cli",
];

/** The folders `internal/` of src/. Only files in the folder above one, or below that folder, import from it. */
const internals = readdirSync(join(__dirname, "src"), { recursive: true }).filter((path) => path.endsWith("/internal"));

module.exports = {
  forbidden: [
    ...modules.map((module, n) => ({
      name: `module-${module}`,
      severity: "error",
      from: { path: `^src/${module}/`, pathNot: "\\.test\\.ts$" },
      to: { path: `^src/(${modules.slice(n + 1).join("|") || "none"})/` },
    })),
    { name: "no-circles", severity: "error", from: {}, to: { circular: true } },
    ...internals.map((folder) => ({
      name: `no-foreign-${folder}`,
      severity: "error",
      from: { pathNot: `^src/${dirname(folder)}/` },
      to: { path: `^src/${folder}/` },
    })),
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
  },
};
