import { type Command, InvalidArgumentError } from "commander";
import type { LoadInput } from "../../../app/server/load-in-thread.ts";
import type { Configuration } from "../../../configuration/configuration.ts";
import type { ConfigurationInput } from "../../../configuration/configuration-input.ts";
import { type ConfigurationProblem, problemText } from "../../../configuration/problem.ts";
import { defined } from "../../../lib/defined.ts";
import type { Result } from "../../../lib/result.ts";
import { EXIT } from "../../exit.ts";
import { collect } from "../shared-options.ts";

export interface ConfigurationFlags {
  readonly host?: string;
  readonly port?: string;
  readonly dataDir?: string;
  readonly config?: string;
  readonly geowebcache?: string;
  readonly set?: readonly string[];
}

function collectAssignment(value: string, before: readonly string[]): readonly string[] {
  if (!/^[^=]+=/.test(value)) throw new InvalidArgumentError("It has the form key=value.");
  return collect(value, before);
}

export function addConfigurationFlags(command: Command): Command {
  return command
    .option("--config <file>", "the configuration file, YAML (NUTHATCH_CONFIG)")
    .option(
      "--geowebcache <directory>",
      "a directory of GeoWebCache, whose geowebcache.xml is the configuration (NUTHATCH_GEOWEBCACHE)",
    )
    .option("--host <address>", "the address to listen on (NUTHATCH_HOST)")
    .option("--port <number>", "the port to listen on; 0 picks a free one (NUTHATCH_PORT)")
    .option("--data-dir <directory>", "the directory of state and tiles (NUTHATCH_DATA_DIR)")
    .option(
      "--set <key=value>",
      "any key of the file, such as jobs.maxRunningTasks=8; may be repeated",
      collectAssignment,
      [],
    );
}

/**
 * Returns the input of the configuration without the variables. Flags override variables, and variables override the
 * file.
 */
export function inputOf({ host, port, dataDir, config, geowebcache, set = [] }: ConfigurationFlags): LoadInput {
  const given = {
    ...defined({ host, port, "data-dir": dataDir, config, geowebcache }),
    ...Object.fromEntries(set.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)])),
  };
  return { flags: given, cwd: process.cwd() };
}

async function load(
  flags: ConfigurationFlags,
  more: Pick<ConfigurationInput, "makesDefaults">,
): Promise<Result<Configuration, readonly ConfigurationProblem[]>> {
  // Loaded here, because the help does not need it.
  const { loadConfiguration } = await import("../../../configuration/load.ts");
  return loadConfiguration({ ...inputOf(flags), ...more, env: process.env });
}

/** Loads the configuration. If it is invalid, prints the problems, sets the exit code and returns undefined. */
export async function loadOrPrint(
  flags: ConfigurationFlags,
  more: Pick<ConfigurationInput, "makesDefaults"> = {},
): Promise<Configuration | undefined> {
  const loaded = await load(flags, more);
  if (loaded.ok) return loaded.value;
  const problems = loaded.error.map((problem) => `  ${problemText(problem)}\n`).join("");
  process.stderr.write(`The configuration is not valid:\n${problems}`);
  process.exitCode = EXIT.configuration;
  return undefined;
}

/** Loads the configuration as `loadOrPrint` does, and prints its warnings. */
export async function loadWithWarnings(flags: ConfigurationFlags): Promise<Configuration | undefined> {
  const configuration = await loadOrPrint(flags);
  for (const warning of configuration?.warnings ?? []) process.stderr.write(`warning: ${warning}\n`);
  return configuration;
}
