import type { Argument, Command, Option } from "commander";
import { ServerClient } from "../client/server-client.ts";
import { argumentOf, type CompletionPosition, commandsOf, optionsOf, placeOf } from "./completion-place.ts";
import { type Candidate, FILES, SERVER_VALUES, WORDS } from "./completion-values.ts";

/** The completions at the cursor: words, or names of files or directories, which the shell lists itself. */
export interface Completion {
  readonly kind: "words" | "files" | "directories";
  readonly candidates: readonly Candidate[];
}

/** Short, because the user's shell waits for the completion. */
const SERVER_TIMEOUT_MS = 1_000;

/** Returns what commander's own tree of commands, options and arguments allows at the cursor. */
export async function completionOf(program: Command, words: readonly string[], current: string): Promise<Completion> {
  const place = placeOf(program, words, current);
  const { kind, candidates } = await valuesAt(place);
  return {
    kind,
    candidates: candidates
      .filter(({ value }) => value.startsWith(place.typed))
      .map((one) => ({ ...one, value: place.prefix + one.value })),
  };
}

async function valuesAt(place: CompletionPosition): Promise<Completion> {
  const { command, operands, option, typed, onlyOperands } = place;
  if (option !== undefined) return valuesOf(option, place);
  if (typed.startsWith("-") && !onlyOperands) return { kind: "words", candidates: optionCandidates(place) };
  const commands = operands.length > 0 || onlyOperands ? [] : commandsOf(command);
  const argument = argumentOf(place);
  const values = argument === undefined ? undefined : await valuesOf(argument, place);
  const candidates = [
    ...commands.map((one) => ({ value: one.name(), description: one.description() })),
    ...(values?.candidates ?? []),
  ];
  // If neither a command nor an argument can follow, offer the options.
  if (argument === undefined && commands.length === 0 && !onlyOperands)
    return { kind: "words", candidates: optionCandidates(place) };
  return { kind: values?.kind ?? "words", candidates };
}

/** Returns the options. Leaves out flags that the line has already; an option with a value may be repeated. */
const optionCandidates = ({ command, given }: CompletionPosition): readonly Candidate[] =>
  optionsOf(command)
    .filter((option) => option.required || given.every((one) => one.option !== option))
    .flatMap(({ long, description }) => (long === undefined ? [] : [{ value: long, description }]));

/** Returns the placeholder of an option's or argument's value: `layer` for `--layer <layer>`. */
export const placeholderOf = (requested: Option | Argument): string =>
  "flags" in requested ? (/[<[]([^<>[\]]+?)(?:\.\.\.)?[>\]]/.exec(requested.flags)?.[1] ?? "") : requested.name();

async function valuesOf(requested: Option | Argument, place: CompletionPosition): Promise<Completion> {
  const name = placeholderOf(requested);
  const files = FILES.get(name);
  if (files !== undefined) return { kind: files, candidates: [] };
  const words = requested.argChoices ?? WORDS.get(name)?.();
  if (words !== undefined) return { kind: "words", candidates: words.map((value) => ({ value })) };
  return { kind: "words", candidates: await requestedValues(name, place) };
}

/** Returns values from the server, or none if the request fails: a message would disturb the user who is typing. */
async function requestedValues(
  name: string,
  { command, operands, given }: CompletionPosition,
): Promise<readonly Candidate[]> {
  const values = SERVER_VALUES.get(name);
  const flag = (long: string): string | undefined => given.findLast(({ option }) => option.long === long)?.value;
  const url = flag("--url") ?? command.options.find(({ long }) => long === "--url")?.defaultValue;
  const user = flag("--user");
  if (values === undefined || typeof url !== "string") return [];
  const layers = command.registeredArguments.some((argument) => argument.name() === "layer") ? operands : [];
  try {
    const client = new ServerClient(
      { url, ...(user === undefined ? {} : { user }) },
      { signal: AbortSignal.timeout(SERVER_TIMEOUT_MS) },
    );
    return await values(client, { command: command.name(), layers });
  } catch {
    return [];
  }
}
