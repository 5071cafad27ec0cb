/** The floors of the house, lowest first: a folder imports only its own floor and lower ones (docs: ARCHITECTURE.md). */
const floors = [
  "lib",
  "state",
  "grid",
  "tile",
  "layer",
  "image",
  "source",
  "store",
  "ledger",
  "cache",
  "quota",
  "jobs",
  "http",
  "config",
  "app",
  "cli",
];

module.exports = {
  forbidden: [
    ...floors.map((floor, n) => ({
      name: `floor-${floor}`,
      severity: "error",
      from: { path: `^src/${floor}/` },
      to: { path: `^src/(${floors.slice(n + 1).join("|") || "none"})/` },
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
