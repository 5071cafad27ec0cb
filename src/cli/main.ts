import { codeOf } from "../lib/error-code.ts";
import { programWith } from "./program.ts";
import { runProgram } from "./run-program.ts";

/**
 * Ends the program without a message when the reader of its output has closed the pipe, as `head` does. A server must
 * not end silently, so it has another entry file.
 */
function endWithReader(): void {
  process.stdout.on("error", (error) => {
    if (codeOf(error) !== "EPIPE") throw error;
    process.exit();
  });
}

endWithReader();
void programWith(process.argv[2]).then(runProgram);
