import { Command } from "commander";
import { ownVersion } from "../lib/process/version.ts";
import { addGlobalOptions } from "./global-options.ts";

/** Returns the program without its commands. */
export const bareProgram = (): Command =>
  addGlobalOptions(new Command("nuthatch"))
    .description("A tile cache for maps, managed over HTTP")
    .version(ownVersion())
    .enablePositionalOptions()
    .showHelpAfterError("(see nuthatch --help)");
