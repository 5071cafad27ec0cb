import { execFile, execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export interface Shown {
  readonly shown: string;
  /** The exit code, or minus the number of the signal that ended the command. */
  readonly code: number;
  /** Whether the terminal's settings after the command are the same as before. */
  readonly same: boolean;
}

/** Whether Python can create terminals here. Node cannot create them itself. */
export const hasTerminals = ((): boolean => {
  try {
    execFileSync("python3", ["-c", "import pty, termios"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

const script = fileURLToPath(new URL("in-terminal.py", import.meta.url));

/** Runs a command in a separate terminal. Types `keys` once `what` has appeared. */
export async function inTerminal(
  command: readonly string[],
  options: {
    readonly env: Readonly<Record<string, string>>;
    readonly what: RegExp;
    readonly keys: string;
    readonly columns?: number;
  },
): Promise<Shown> {
  const { env, what, keys, columns = 100 } = options;
  const { stdout } = await promisify(execFile)("python3", [script, String(columns), what.source, keys, ...command], {
    env: { PATH: process.env["PATH"], HOME: "/nonexistent", TERM: "xterm", ...env },
    timeout: 60_000,
  });
  return JSON.parse(stdout);
}
