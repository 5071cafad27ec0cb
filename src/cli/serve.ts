import { bareProgram } from "./bare-program.ts";
import { serveCommand } from "./commands/server/serve-command.ts";
import { runProgram } from "./run-program.ts";

// The entry file of a server's process. It does not load other commands, whose code would stay in memory.
void runProgram(bareProgram().addCommand(serveCommand()));
