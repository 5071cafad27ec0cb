import type { Argument, Command, Option } from "commander";
import { ServerClient } from "../client/server-client.ts";
import { type Candidate, FILES, SERVER_VALUES, WORDS } from "./completion-values.ts";

/** The completions at the cursor: words, or names of files or directories, which the shell lists itself. */
export interface Completion {
  readonly kind: "words" | "files" | "directories";
  readonly candidates: readonly Candidate[];
}

/** The position of the cursor on a command line. */
interface CompletionPosition {
  readonly command: Command;
  readonly operands: readonly string[];
  readonly given: readonly { readonly option: Option; readonly value: string | undefined }[];
  /** The option whose value is at the cursor; undefined: the cursor is not at an option's value. */
  readonly option: Option | undefined;
  /** The part of the word at the cursor before the value, such as `--format=`. */
  readonly prefix: string;
  /** The part of the value that has been typed. */
  readonly typed: string;
  /** True after `--`, when no word is an option. */
  readonly onlyOperands: boolean;
}

/** Short, because the user's shell waits for the completion. */
const SERVER_TIMEOUT_MS = 1_000;

/** Returns what commander's own tree of commands, options and arguments allows at the cursor. */
export async function completionOf(program: Command, words: readonly string[], current: string): Promise<Completion> {
  const position = positionOf(program, words, current);
  const { kind, candidates } = await valuesAt(position);
  return {
    kind,
    candidates: candidates
      .filter(({ value }) => value.startsWith(position.typed))
      .map((one) => ({ ...one, value: position.prefix + one.value })),
  };
}

async function valuesAt(position: CompletionPosition): Promise<Completion> {
  const { command, operands, option, typed, onlyOperands } = position;
  if (option !== undefined) return valuesOf(option, position);
  if (typed.startsWith("-") && !onlyOperands) return { kind: "words", candidates: optionCandidates(position) };
  const commands = operands.length > 0 || onlyOperands ? [] : commandsOf(command);
  const argument = argumentOf(position);
  // If neither a command nor an argument can follow, offer the options.
  if (argument === undefined && commands.length === 0 && !onlyOperands)
    return { kind: "words", candidates: optionCandidates(position) };
  const candidates = commands.map((one) => ({ value: one.name(), description: one.description() }));
  if (argument === undefined) return { kind: "words", candidates };
  const values = await valuesOf(argument, position);
  return { kind: values.kind, candidates: [...candidates, ...values.candidates] };
}

/** Returns the options. Leaves out flags that the line has already; an option with a value may be repeated. */
const optionCandidates = ({ command, given }: CompletionPosition): readonly Candidate[] =>
  optionsOf(command)
    .filter((option) => option.required || given.every((one) => one.option !== option))
    .flatMap(({ long, description }) => (long === undefined ? [] : [{ value: long, description }]));

/** Returns the placeholder of an option's or argument's value: `layer` for `--layer <layer>`. */
export const placeholderOf = (target: Option | Argument): string =>
  "flags" in target ? (/[<[]([^<>[\]]+?)(?:\.\.\.)?[>\]]/.exec(target.flags)?.[1] ?? "") : target.name();

async function valuesOf(target: Option | Argument, position: CompletionPosition): Promise<Completion> {
  const name = placeholderOf(target);
  const files = FILES.get(name);
  if (files !== undefined) return { kind: files, candidates: [] };
  const words = target.argChoices ?? WORDS.get(name)?.();
  if (words !== undefined) return { kind: "words", candidates: words.map((value) => ({ value })) };
  return { kind: "words", candidates: await requestedValues(name, position) };
}

/** Returns values from the server, or none if the request fails: a message would disturb the user who is typing. */
async function requestedValues(
  name: string,
  { command, operands, given }: CompletionPosition,
): Promise<readonly Candidate[]> {
  const values = SERVER_VALUES.get(name);
  const flag = (long: string): string | undefined => given.findLast(({ option }) => option.long === long)?.value;
  const url: unknown = flag("--url") ?? command.getOptionValue("url");
  const user = flag("--user");
  if (values === undefined || typeof url !== "string") return [];
  const layers = command.registeredArguments.some((argument) => argument.name() === "layer") ? operands : [];
  try {
    const signal = AbortSignal.timeout(SERVER_TIMEOUT_MS);
    const client = new ServerClient({ url, ...(user === undefined ? {} : { user }) }, { signal });
    return await values(client, { command: command.name(), layers });
  } catch {
    // A shell has no place for the message of a server that does not answer.
    return [];
  }
}

/** Returns the option that a word names, and the value of `--name=value`. */
function optionOf(command: Command, word: string) {
  const prefix = /^--[^=]*=/.exec(word)?.[0] ?? "";
  const name = prefix === "" ? word : prefix.slice(0, -1);
  const option = optionsOf(command).find(({ short, long }) => name === short || name === long);
  return { option, prefix, value: prefix === "" ? undefined : word.slice(prefix.length) };
}

/** Returns the options that the command's help shows. */
export const optionsOf = (command: Command): readonly Option[] => command.createHelp().visibleOptions(command);
export const commandsOf = (command: Command): readonly Command[] => command.createHelp().visibleCommands(command);

/**
 * Returns the argument that an operand at this place belongs to. A variadic last argument takes all further operands.
 */
function argumentOf({ command, operands }: CompletionPosition): Argument | undefined {
  const last = command.registeredArguments.at(-1);
  return command.registeredArguments[operands.length] ?? (last?.variadic === true ? last : undefined);
}

/** Parses the words as commander would, without running a command. `current`: the last word, up to the cursor. */
function positionOf(program: Command, words: readonly string[], current: string): CompletionPosition {
  let command = program;
  let waiting: Option | undefined;
  let onlyOperands = false;
  const operands: string[] = [];
  const given: { option: Option; value: string | undefined }[] = [];
  for (const word of words) {
    if (waiting !== undefined) {
      given.push({ option: waiting, value: word });
      waiting = undefined;
    } else if (onlyOperands || !word.startsWith("-") || word === "-") {
      const inner = operands.length === 0 ? commandsOf(command).find((known) => known.name() === word) : undefined;
      if (inner === undefined || onlyOperands) operands.push(word);
      else command = inner;
    } else if (word === "--") onlyOperands = true;
    else {
      const { option, value } = optionOf(command, word);
      if (option === undefined) continue;
      if ((option.required || option.optional) && value === undefined) waiting = option;
      else given.push({ option, value });
    }
  }
  const position = { command, operands, given, onlyOperands };
  const { option, prefix, value } = optionOf(command, current);
  if (onlyOperands || waiting !== undefined || option === undefined || value === undefined)
    return { ...position, option: waiting, prefix: "", typed: current };
  return { ...position, option, prefix, typed: value };
}
