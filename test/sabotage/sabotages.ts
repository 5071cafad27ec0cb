import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The folder of the patches, with a folder for each module. */
const FOLDER = fileURLToPath(new URL("patches/", import.meta.url));

/** A patch that breaks one promise of the product, and the tests that must notice. */
export interface Sabotage {
  /** The path of the patch below its folder, without extension, such as `ledger/put-without-mark`. */
  readonly name: string;
  /** The path of the patch. */
  readonly file: string;
  /** The broken promise, in words. */
  readonly promise: string;
  /** Paths of test files, relative to the root of the repository. */
  readonly tests: readonly string[];
  /** Paths of the changed files, relative to the root of the repository. */
  readonly changed: readonly string[];
}

/**
 * Reads all patches, sorted by name. The text before the first change of a patch has the promise, then one line
 * `Test: PATH` for each test file.
 */
export function readSabotages(): readonly Sabotage[] {
  return readdirSync(FOLDER, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".patch"))
    .sort()
    .map((path) => readSabotage(path));
}

function readSabotage(path: string): Sabotage {
  const file = FOLDER + path;
  const lines = readFileSync(file, "utf8").split("\n");
  const head = lines.slice(
    0,
    lines.findIndex((line) => line.startsWith("--- ")),
  );
  const after = (prefix: string, from: readonly string[]): readonly string[] =>
    from.filter((line) => line.startsWith(prefix)).map((line) => line.slice(prefix.length));
  const tests = after("Test: ", head);
  const promise = head.filter((line) => !line.startsWith("Test: ")).join(" ");
  return { name: path.replace(/\.patch$/, ""), file, promise: promise.trim(), tests, changed: after("+++ b/", lines) };
}
