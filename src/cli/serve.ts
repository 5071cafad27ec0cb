import { bareProgram } from "./bare-program.ts";
import { serveCommand } from "./commands/server/serve-command.ts";
import { runProgram } from "./run-program.ts";

// The process of a server. It is apart from the other commands, whose code it would keep in memory.
void runProgram(bareProgram().addCommand(serveCommand()));
