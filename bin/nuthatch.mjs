#!/usr/bin/env node
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const main = new URL("../dist/main.cjs", import.meta.url);
if (!existsSync(fileURLToPath(main))) {
  console.error("nuthatch is not built yet: run `npm start` once, or `npm ci && npm run build`.");
  process.exit(1);
}
await import(main.href);
