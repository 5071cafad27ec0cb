import { type Command, InvalidArgumentError } from "commander";
import type { Configuration } from "../../config/configuration.ts";
import type { RunningConfiguration } from "../../config/load.ts";
import { type ConfigurationProblem, problemText } from "../../config/problem.ts";
import type { Result } from "../../lib/result.ts";
import { collect } from "./shared-options.ts";

export interface ConfigurationFlags {
  readonly host?: string;
  readonly port?: string;
  readonly dataDir?: string;
  readonly config?: string;
  readonly set?: readonly string[];
}

function collectAssignment(value: string, before: readonly string[]): readonly string[] {
  if (!/^[^=]+=/.test(value)) throw new InvalidArgumentError("It has the form key=value.");
  return collect(value, before);
}

export function addConfigurationFlags(command: Command): Command {
  return command
    .option("--config <file>", "the configuration, YAML (NUTHATCH_CONFIG)")
    .option("--host <address>", "where to listen (NUTHATCH_HOST)")
    .option("--port <number>", "0 picks a free one (NUTHATCH_PORT)")
    .option("--data-dir <directory>", "state and tiles (NUTHATCH_DATA_DIR)")
    .option(
      "--set <key=value>",
      "any key of the file, such as jobs.maxRunningTasks=8; may be given again",
      collectAssignment,
      [],
    );
}

/** Loads the configuration. Flags override variables, and variables override the file. `running`: set on a reload. */
export async function load(
  flags: ConfigurationFlags,
  running?: RunningConfiguration,
): Promise<Result<Configuration, readonly ConfigurationProblem[]>> {
  const given: Record<string, string> = {};
  for (const [key, value] of [
    ["host", flags.host],
    ["port", flags.port],
    ["data-dir", flags.dataDir],
    ["config", flags.config],
  ] as const) {
    if (value !== undefined) given[key] = value;
  }
  for (const pair of flags.set ?? []) {
    const equals = pair.indexOf("=");
    given[pair.slice(0, equals)] = pair.slice(equals + 1);
  }
  // Loaded here, because the help needs no configuration.
  const { loadConfiguration } = await import("../../config/load.ts");
  const input = { env: process.env, flags: given, cwd: process.cwd() };
  return loadConfiguration(running === undefined ? input : { ...input, running });
}

export function printProblems(problems: readonly ConfigurationProblem[]): void {
  process.stderr.write(`The configuration is not valid:\n${problems.map((p) => `  ${problemText(p)}\n`).join("")}`);
}
