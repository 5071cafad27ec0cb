import { Command } from "commander";
import { stringify } from "yaml";
import type { Configuration } from "../../config/configuration.ts";
import { configurationDocument } from "../../config/configuration-document.ts";
import { configurationJsonSchema } from "../../config/configuration-json-schema.ts";
import { EXIT } from "../exit.ts";
import { addConfigurationFlags, type ConfigurationFlags, load, printProblems } from "./configuration-flags.ts";

/** Loads the configuration and prints its warnings. Prints the problems of an invalid one and returns undefined. */
async function loadOrPrint(flags: ConfigurationFlags): Promise<Configuration | undefined> {
  const loaded = await load(flags);
  if (!loaded.ok) {
    printProblems(loaded.error);
    process.exitCode = EXIT.configuration;
    return undefined;
  }
  for (const warning of loaded.value.warnings) process.stderr.write(`warning: ${warning}\n`);
  return loaded.value;
}

/** `nuthatch config …`: checks a configuration, prints it with all its defaults, or prints its JSON Schema. */
export function configCommand(): Command {
  const check = addConfigurationFlags(
    new Command("check").description("says what is wrong with a configuration, with line and column"),
  ).action(async (flags: ConfigurationFlags) => {
    const configuration = await loadOrPrint(flags);
    if (configuration === undefined) return;
    const { layers, users, file, server } = configuration;
    process.stdout.write(
      `${file ?? "The demo configuration"} is valid: ${layers.length} layers, ${users.length} users, http://${server.host}:${server.port}\n`,
    );
  });
  const print = addConfigurationFlags(
    new Command("print").description("prints the configuration with all its defaults, as YAML, without its secrets"),
  ).action(async (flags: ConfigurationFlags) => {
    const configuration = await loadOrPrint(flags);
    if (configuration === undefined) return;
    process.stdout.write(
      stringify(configurationDocument(configuration), { lineWidth: 0, aliasDuplicateObjects: false }),
    );
  });
  const schema = new Command("schema")
    .description("prints the JSON Schema of configuration files, for editors")
    .action(() => void process.stdout.write(`${JSON.stringify(configurationJsonSchema(), null, 2)}\n`));
  return new Command("config").description("the configuration").addCommand(check).addCommand(print).addCommand(schema);
}
