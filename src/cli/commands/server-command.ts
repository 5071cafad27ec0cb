import { Command } from "commander";
import { machineClock } from "../../lib/time/machine-clock.ts";
import { type AnswerFlags, printAnswer } from "../client/answer.ts";
import { type ClientOptions, ServerClient, type ServerFlags } from "../client/server-client.ts";
import { addServerOptions } from "../global-options.ts";

/** Creates a command that sends requests to a running server and prints the answer. */
export const serverCommand = (name: string, description: string): Command =>
  addServerOptions(new Command(name).description(description));

/** Returns a client of the server of the flags. */
export const connect = (flags: ServerFlags, options: Omit<ClientOptions, "clock"> = {}): ServerClient =>
  new ServerClient(flags, { clock: machineClock, ...options });

/** Sends one request to the server of the flags and prints the answer. */
export async function requestAndPrint<T>(
  flags: AnswerFlags,
  show: (answer: T) => string,
  ...request: Parameters<ServerClient["request"]>
): Promise<void> {
  printAnswer(await connect(flags).request(...request), flags, show);
}
