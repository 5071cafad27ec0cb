// `npm run docs`: builds the documentation into dist/docs, where the program serves it. Dead links are a failure.
import { fileURLToPath } from "node:url";
import { buildSite } from "../site/build.mjs";

const problems = await buildSite(fileURLToPath(new URL("../dist/docs", import.meta.url)));
for (const problem of problems) console.error(`docs: ${problem}`);
process.exitCode = problems.length === 0 ? 0 : 1;
