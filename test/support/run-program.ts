import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const program = fileURLToPath(new URL("../../bin/nuthatch.mjs", import.meta.url));

/** Where no netrc file is. */
const NO_HOME = join(tmpdir(), "nuthatch-no-home");

/** Runs the built program as its user has it, with nothing of the test's own environment but the path. */
export function runProgram(
  args: readonly string[],
  options: { readonly env?: Readonly<Record<string, string>>; readonly cwd?: string; readonly input?: string } = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [program, ...args], {
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

/** The program as a client of a server, which it finds by the address in its environment. */
export const clientOf =
  (url: () => string, ...command: readonly string[]) =>
  (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> =>
    runProgram([...command, ...args], { env: { NUTHATCH_URL: url(), ...env } });
