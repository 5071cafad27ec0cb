import { Command } from "commander";
import { stringify } from "yaml";
import type { Configuration } from "../../config/configuration.ts";
import { configurationDocument } from "../../config/configuration-document.ts";
import { configurationJsonSchema } from "../../config/configuration-json-schema.ts";
import { addConfigurationFlags, type ConfigurationFlags, loadOrPrint } from "./configuration-flags.ts";

async function loadWithWarnings(flags: ConfigurationFlags): Promise<Configuration | undefined> {
  const configuration = await loadOrPrint(flags);
  for (const warning of configuration?.warnings ?? []) process.stderr.write(`warning: ${warning}\n`);
  return configuration;
}

/** `nuthatch config …`: checks a configuration, prints it with all its defaults, or prints its JSON Schema. */
export function configCommand(): Command {
  const check = addConfigurationFlags(
    new Command("check").description("checks a configuration and lists its problems with line and column"),
  ).action(async (flags: ConfigurationFlags) => {
    const configuration = await loadWithWarnings(flags);
    if (configuration === undefined) return;
    const { layers, users, file, server } = configuration;
    process.stdout.write(
      `${file ?? "The demo configuration"} is valid: ${layers.length} layers, ${users.length} users, http://${server.host}:${server.port}\n`,
    );
  });
  const print = addConfigurationFlags(
    new Command("print").description("prints the configuration with all its defaults, as YAML, without its secrets"),
  ).action(async (flags: ConfigurationFlags) => {
    const configuration = await loadWithWarnings(flags);
    if (configuration === undefined) return;
    process.stdout.write(
      stringify(configurationDocument(configuration), { lineWidth: 0, aliasDuplicateObjects: false }),
    );
  });
  const schema = new Command("schema")
    .description("prints the JSON Schema of configuration files, for editors")
    .action(() => void process.stdout.write(`${JSON.stringify(configurationJsonSchema(), null, 2)}\n`));
  return new Command("config")
    .description("checks and prints configurations")
    .addCommand(check)
    .addCommand(print)
    .addCommand(schema);
}
