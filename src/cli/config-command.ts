import { Command } from "commander";
import { addConfigurationFlags, type ConfigurationFlags, load, tellProblems } from "./configuration-flags.ts";
import { EXIT } from "./exit.ts";

/** `nuthatch config check`: what is wrong with a configuration, with line and column. */
export function configCommand(): Command {
  const check = addConfigurationFlags(
    new Command("check").description("says what is wrong with a configuration"),
  ).action(async (flags: ConfigurationFlags) => {
    const loaded = await load(flags);
    if (!loaded.ok) {
      tellProblems(loaded.error);
      process.exitCode = EXIT.configuration;
      return;
    }
    const { layers, warnings, file } = loaded.value;
    for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`);
    process.stdout.write(`${file ?? "The demo configuration"} is valid: ${layers.length} layers.\n`);
  });
  return new Command("config").description("the configuration").addCommand(check);
}
