import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Installed } from "./installed.ts";

interface Run {
  readonly packages?: Installed;
  /** Debian's Python has the packages of Debian; another one has the packages of PyPI. */
  readonly python?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a script of this folder. Returns the JSON that it prints in its last line. */
export async function runPython(
  script: string,
  args: readonly string[],
  { packages, python = "python3", env = {} }: Run,
): Promise<unknown> {
  const file = fileURLToPath(new URL(script, import.meta.url));
  const found = packages === undefined ? {} : { PYTHONPATH: packages.directory };
  const { stdout } = await promisify(execFile)(python, [file, ...args], {
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1", ...found, ...env },
    timeout: 500_000,
    maxBuffer: 2 ** 26,
  });
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
}
