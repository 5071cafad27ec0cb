import type { Argument, Command, Option } from "commander";
import { ServerClient } from "../client/server-client.ts";
import { argumentOf, commandsOf, optionsOf, type Place, placeOf } from "./completion-place.ts";
import { type Candidate, FILES, SERVER_VALUES, WORDS } from "./completion-values.ts";

/** What may come at the cursor: words that are known here, or names that the shell itself knows. */
export interface Completion {
  readonly kind: "words" | "files" | "directories";
  readonly candidates: readonly Candidate[];
}

/** A shell waits for it. */
const SERVER_TIMEOUT_MS = 1_000;

/** What commander's own tree of commands, options and arguments allows at the cursor. */
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

async function valuesAt(place: Place): Promise<Completion> {
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
  // Where nothing else can come the options are worth a look.
  if (argument === undefined && commands.length === 0 && !onlyOperands)
    return { kind: "words", candidates: optionCandidates(place) };
  return { kind: values?.kind ?? "words", candidates };
}

/** Flags that are given are left out; an option with a value may come again. */
const optionCandidates = ({ command, given }: Place): readonly Candidate[] =>
  optionsOf(command)
    .filter((option) => option.required || given.every((one) => one.option !== option))
    .flatMap(({ long, description }) => (long === undefined ? [] : [{ value: long, description }]));

/** The name by which the value of an option or argument is asked for: of `--layer <layer>` it is `layer`. */
export const placeholderOf = (asked: Option | Argument): string =>
  "flags" in asked ? (/[<[]([^<>[\]]+?)(?:\.\.\.)?[>\]]/.exec(asked.flags)?.[1] ?? "") : asked.name();

async function valuesOf(asked: Option | Argument, place: Place): Promise<Completion> {
  const name = placeholderOf(asked);
  const files = FILES.get(name);
  if (files !== undefined) return { kind: files, candidates: [] };
  const words = asked.argChoices ?? WORDS.get(name)?.();
  if (words !== undefined) return { kind: "words", candidates: words.map((value) => ({ value })) };
  return { kind: "words", candidates: await askedValues(name, place) };
}

/** A server that does not answer in time, or not with what was asked for, is no reason to disturb whoever is typing. */
async function askedValues(name: string, { command, operands, given }: Place): Promise<readonly Candidate[]> {
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
