import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROGRAM } from "./program.ts";

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A home directory that does not exist. */
const NO_HOME = join(tmpdir(), "nuthatch-no-home");

/** Runs the built program as a user would. Only PATH is taken over from the test's own environment. */
export function runProgram(
  args: readonly string[],
  options: { readonly env?: Readonly<Record<string, string>>; readonly cwd?: string; readonly input?: string } = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: options.cwd,
    env: { PATH: process.env["PATH"], HOME: NO_HOME, ...options.env },
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  child.stdin.end(options.input ?? "");
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, stdout, stderr })));
}

/** Returns a function that runs the program as a client of a server, whose address is in the program's environment. */
export const clientOf =
  (url: () => string, ...command: readonly string[]) =>
  (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> =>
    runProgram([...command, ...args], { env: { NUTHATCH_URL: url(), ...env } });
