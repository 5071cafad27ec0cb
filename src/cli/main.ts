import { Command, CommanderError } from "commander";
import { configCommand } from "./config-command.ts";
import { EXIT } from "./exit.ts";
import { serveCommand } from "./serve-command.ts";
import { userCommand } from "./user-command.ts";

const program = new Command("nuthatch")
  .description("A tile cache for maps, managed over HTTP")
  .exitOverride()
  .addCommand(serveCommand())
  .addCommand(userCommand())
  .addCommand(configCommand());

try {
  await program.parseAsync(process.argv);
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  else {
    process.stderr.write(`nuthatch: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = EXIT.failure;
  }
}
