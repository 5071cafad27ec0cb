import type { Argument, Command, Option } from "commander";

/** The position of the cursor on a command line. */
export interface CompletionPosition {
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

const takesValue = ({ required, optional }: Option): boolean => required || optional;
const optionOf = (command: Command, word: string): Option | undefined =>
  optionsOf(command).find(({ short, long }) => word === short || word === long);

/** Returns the options that the command's help shows. */
export const optionsOf = (command: Command): readonly Option[] => command.createHelp().visibleOptions(command);
export const commandsOf = (command: Command): readonly Command[] => command.createHelp().visibleCommands(command);

/** Returns the argument that an operand at this place belongs to. A variadic last argument takes all others. */
export function argumentOf({ command, operands }: CompletionPosition): Argument | undefined {
  const last = command.registeredArguments.at(-1);
  return command.registeredArguments[operands.length] ?? (last?.variadic === true ? last : undefined);
}

/** Parses the words as commander would, without running a command. `current`: the last word, up to the cursor. */
export function placeOf(program: Command, words: readonly string[], current: string): CompletionPosition {
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
      const [name, value] = splitOption(word);
      const option = optionOf(command, name);
      if (option === undefined) continue;
      if (takesValue(option) && value === undefined) waiting = option;
      else given.push({ option, value });
    }
  }
  const [name, value] = splitOption(current);
  const inline = onlyOperands || waiting !== undefined || value === undefined ? undefined : optionOf(command, name);
  return {
    command,
    operands,
    given,
    onlyOperands,
    option: waiting ?? inline,
    ...(inline === undefined || value === undefined
      ? { prefix: "", typed: current }
      : { prefix: `${name}=`, typed: value }),
  };
}

/** Splits `--name=value`. */
function splitOption(word: string): readonly [name: string, value: string | undefined] {
  const equals = word.startsWith("--") ? word.indexOf("=") : -1;
  return equals < 0 ? [word, undefined] : [word.slice(0, equals), word.slice(equals + 1)];
}
