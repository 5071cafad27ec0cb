/** The modules of src/, lowest first: a module imports only itself and lower ones (ARCHITECTURE.md). Tests may look higher. */
const modules = [
  "lib",
  "state",
  "grid",
  "layer",
  "gwc",
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
  "coordinator",
  "http",
  "config",
  "cluster",
  "app",
  "cli",
];

module.exports = {
  forbidden: [
    ...modules.map((module, n) => ({
      name: `module-${module}`,
      severity: "error",
      from: { path: `^src/${module}/`, pathNot: "\\.test\\.ts$" },
      to: { path: `^src/(${modules.slice(n + 1).join("|") || "none"})/` },
    })),
    { name: "no-circles", severity: "error", from: {}, to: { circular: true } },
    {
      name: "no-foreign-internal",
      severity: "error",
      from: { path: "^src/([^/]+)/" },
      to: { path: "^src/([^/]+)/internal/", pathNot: "^src/$1/internal/" },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
  },
};
