import type { Command } from "commander";
import { type AnswerFlags, printAnswer, type Received } from "../../client/answer.ts";
import { ServerRefusal } from "../../client/server-client.ts";
import { CommandFailure, EXIT } from "../../exit.ts";
import { connect, serverCommand } from "../server-command.ts";

const showReload = ({ warnings }: Received<"Reload">): string =>
  ["The configuration has been reloaded.", ...warnings.map((warning) => `warning: ${warning}`), ""].join("\n");

/** `nuthatch reload`: makes a running server read its configuration file again. */
export function reloadCommand(): Command {
  return serverCommand(
    "reload",
    "makes a running server read its configuration file again; a file that is not valid changes nothing",
  ).action(async (flags: AnswerFlags) => {
    const text = await connect(flags)
      .request("POST", "/api/v1/reload")
      .catch((error: unknown) => {
        // The code in the answer decides, because a proxy may answer 400 too.
        const isConfiguration = error instanceof ServerRefusal && error.text.includes('"code":"bad_configuration"');
        throw isConfiguration ? new CommandFailure(error.message, EXIT.configuration) : error;
      });
    printAnswer(text, flags, showReload);
  });
}
