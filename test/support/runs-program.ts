import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Returns whether a test file, given as a path from the root, runs the built program: all files of `test/`, tests of
 * the command line, and tests that start a server.
 */
export const runsProgram = (file: string): boolean =>
  /^(test|src\/cli|src\/launch)\//.test(file) ||
  /\/test\/support\/server\/(server|program|run-program)\.ts"/.test(readFileSync(root + file, "utf8"));
