import { Command } from "commander";
import { addServerFlags, type ServerFlags } from "./server-client.ts";

/** Flags of every command that shows what a server answered. */
export interface AnswerFlags extends ServerFlags {
  readonly json?: boolean;
}

/** A count as the server wrote it: text where a number of JavaScript would not be exact. */
export type Count = number | string;

/** Nothing in the query. */
export const NONE = new URLSearchParams();

/** A command that asks a running server and shows its answer. */
export const askingCommand = (name: string, description: string): Command =>
  addServerFlags(new Command(name).description(description)).option("--json", "the server's answer as it is");

export const say = (text: string): void => void process.stdout.write(text);

/** Shows an answer to a person, or with `--json` hands it on as it came. */
export function tell<T>(text: string, { json }: AnswerFlags, show: (answer: T) => string): void {
  say(json === true ? `${text.trimEnd()}\n` : show(JSON.parse(exactNumbers(text))));
}

/** Whole numbers of 16 digits and more as texts. Texts are matched too, so that what looks like a number in them stays. */
export const exactNumbers = (text: string): string =>
  text.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (found) =>
    /^-?\d{16,}$/.test(found) ? `"${found}"` : found,
  );

/** For an option that may be given again. */
export const collect = (value: string, before: readonly string[] = []): string[] => [...before, value];
