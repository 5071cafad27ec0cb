import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The files of the built console (`bin/build-console.mjs`). */
export interface ConsoleFiles {
  /** The folder of the files, with a slash at the end. */
  readonly folder: string;
  /** The name of the script that the shell loads. */
  readonly script: string;
  /** The name of the style sheet. */
  readonly style: string;
  /** The type of each file that is served, by its name. */
  readonly types: ReadonlyMap<string, string>;
}

const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

let found: ConsoleFiles | undefined;

/**
 * Returns the files of the built console.
 * @throws if the console has not been built
 */
export function consoleFiles(): ConsoleFiles {
  found ??= read();
  return found;
}

/** Returns the bytes of a file of the console, compressed by gzip or not. `name` is one of `types`. */
export const readConsoleFile = (name: string, isCompressed: boolean): Buffer =>
  readFileSync(`${consoleFiles().folder}${name}${isCompressed ? ".gz" : ""}`);

/** Returns the folder of the built console: beside the built program, or in `dist` when the sources run. */
function findFolder(): string {
  const candidates = ["./ui/", "../../../dist/ui/"].map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const existing = candidates.find((path) => existsSync(path));
  if (existing === undefined) throw new Error("the console has not been built: run npm run build");
  return existing;
}

function read(): ConsoleFiles {
  const folder = findFolder();
  const types = new Map<string, string>();
  for (const name of readdirSync(folder)) {
    const type = TYPES[name.slice(name.lastIndexOf("."))];
    if (type !== undefined) types.set(name, type);
  }
  const named = (pattern: RegExp): string => {
    const name = [...types.keys()].find((one) => pattern.test(one));
    if (name === undefined) throw new Error(`the built console lacks ${pattern.source}`);
    return name;
  };
  return { folder, script: named(/^console-\w+\.js$/), style: named(/^console-\w+\.css$/), types };
}
