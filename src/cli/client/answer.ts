import { Command } from "commander";
import { addServerFlags, type ServerFlags } from "./server-client.ts";

/** Flags of every command that shows what a server answered. */
export interface AnswerFlags extends ServerFlags {
  readonly json?: boolean;
}

/** A count from the server's answer. It is a string where a JavaScript number would not be exact. */
export type Count = number | string;

/** An empty query string. */
export const NONE = new URLSearchParams();

/** Creates a command that sends requests to a running server and shows the answer. */
export const askingCommand = (name: string, description: string): Command =>
  addServerFlags(new Command(name).description(description)).option("--json", "the server's answer as it is");

export const say = (text: string): void => void process.stdout.write(text);

/** Writes an answer to stdout: formatted by `show`, or with `--json` as the server's own text. */
export function tell<T>(text: string, { json }: AnswerFlags, show: (answer: T) => string): void {
  say(json === true ? `${text.trimEnd()}\n` : show(JSON.parse(exactNumbers(text))));
}

/**
 * Puts whole numbers of 16 digits and more into quotes, because `JSON.parse` would round them. The expression matches
 * strings too, so that digits inside a string stay unchanged.
 */
export const exactNumbers = (text: string): string =>
  text.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (found) =>
    /^-?\d{16,}$/.test(found) ? `"${found}"` : found,
  );

/** Collects the values of an option that may be given more than once. */
export const collect = (value: string, before: readonly string[] = []): string[] => [...before, value];
