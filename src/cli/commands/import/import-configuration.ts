import { existsSync, writeFileSync } from "node:fs";
import { problemsOfText } from "../../../migrate/problems-of-text.ts";
import { CommandFailure, EXIT } from "../../exit.ts";
import { requireDirectoryOf } from "../../output/output-directory.ts";

export interface OutputFlags {
  readonly output?: string;
  readonly force?: boolean;
}

export interface ImportFlags extends OutputFlags {
  readonly check?: boolean;
}

/** The configuration of another program. */
interface ReadConfiguration {
  readonly warnings: readonly string[];
  /** The report on each element. */
  readonly report: string;
  /** Returns the text of the configuration file, and the names of its variables. */
  readonly write: () => { readonly text: string; readonly variables: readonly string[] };
}

/** Writes the configuration of another program as a configuration file, and reports on each element. */
export async function importConfiguration(flags: ImportFlags, read: () => Promise<ReadConfiguration>): Promise<void> {
  expectFree(flags);
  const { warnings, report, write } = await read();
  for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`);
  const { text, variables } = write();
  if (flags.check === true) {
    process.stdout.write(report);
    await reportProblems(text, variables);
    return;
  }
  writeOutput(text, flags, 0o600);
  process.stderr.write(report);
  if (variables.length > 0) process.stderr.write(`Variables to set, with the secrets: ${variables.join(", ")}\n`);
  await reportProblems(text, variables);
}

/** @throws CommandFailure if the file exists and must not be replaced */
export function expectFree({ output, force }: OutputFlags): void {
  if (output !== undefined) requireDirectoryOf(output);
  if (output !== undefined && force !== true && existsSync(output))
    throw new CommandFailure(
      `${output} already exists: --force overwrites it, or name another file with -o`,
      EXIT.failure,
    );
}

/** Writes a text to the file of the flags, or prints it. */
export function writeOutput(text: string, { output, force }: OutputFlags, mode: number): void {
  if (output === undefined) process.stdout.write(text);
  else {
    requireDirectoryOf(output);
    writeFileSync(output, text, { flag: force === true ? "w" : "wx", mode });
  }
}

/**
 * Reports why a server would refuse a configuration.
 * @param variables names of variables, which need to be set only where the server runs; the check uses placeholders
 */
export async function reportProblems(text: string, variables: readonly string[]): Promise<void> {
  const problems = await problemsOfText(text, Object.fromEntries(variables.map((name) => [name, "secret"])));
  if (problems.length === 0) return;
  const lines = problems.map(({ message }) => `  ${message}\n`).join("");
  process.stderr.write(`The written file needs changes before a server accepts it:\n${lines}`);
  process.exitCode = EXIT.configuration;
}
