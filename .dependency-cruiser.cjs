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
  "purge",
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
  "app",
  "migrate",
  "cli",
];

/** The folders of app/, lowest first. Each but `process`, which all use, is one process, or one kind of them. */
const processes = ["process", "renderer", "coordinator", "serving", "server", "cluster"];

/** Modules of which two may live in one process with two clocks: they take their seams, and never the machine's. */
const given = [
  ...["account", "activity", "app", "cache", "cli", "coordinator", "feed", "http", "image", "jobs", "ledger", "plan"],
  ...["purge", "quota", "render", "schedule", "source", "state", "store", "truncation", "webhook"],
];

/** Files of these modules that put a process together: entry files, `start.ts`, `node.ts`, and the commands. */
const entries = "^src/cli/(commands/|main|serve)|^src/app/.*(-thread|-process|/start|/node)\\.ts$";

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
    ...processes.map((folder, n) => ({
      name: `app-${folder}`,
      severity: "error",
      from: { path: `^src/app/${folder}/`, pathNot: "\\.test\\.ts$" },
      to: { path: `^src/app/(${processes.slice(n + 1).join("|") || "none"})/` },
    })),
    {
      name: "seams-given",
      severity: "error",
      from: {
        path: `^src/(${given.join("|")})/`,
        pathNot: `.(test|conformance).ts$|/(password|postgres-thread|bridge-thread).ts$|${entries}`,
      },
      to: { path: "^src/lib/((time|random|file)/machine-|this-machine)" },
    },
    {
      name: "migrate-apart",
      severity: "error",
      from: { path: "^src/migrate/", pathNot: "\\.test\\.ts$" },
      to: { path: "^src/(coordinator|http|app)/" },
    },
    {
      // The console has no code of the server: its build replaces `job-fields.ts` by data. Only its tests look into the
      // server.
      name: "console-apart",
      severity: "error",
      from: { path: "^ui/", pathNot: "\\.test\\.tsx?$" },
      to: { path: "^src/", pathNot: "^src/plan/job/job-fields\\.ts$", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "renderer-apart",
      severity: "error",
      from: { path: "^src/render/renderer/", pathNot: "\\.test\\.ts$" },
      to: { path: "^src/render/(dispatch|upstream)/" },
    },
    {
      // The schemas of documents are built where a document is described, and nowhere at the start.
      name: "documents-by-type",
      severity: "error",
      from: { path: "^src/", pathNot: "-documents\\.ts$|^src/http/(api|tiles)/|\\.test\\.ts$" },
      to: { path: "-documents\\.ts$", dependencyTypesNot: ["type-only"] },
    },
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
