import { ok, type Result, refuse } from "../../lib/result.ts";

/** The entry of a netrc file for a host. */
export interface NetrcEntry {
  /** The user of the entry; undefined: any user. */
  readonly login: string | undefined;
  readonly password: string;
  /** The line of the keyword `machine` or `default`. */
  readonly line: number;
}

export interface NetrcProblem {
  readonly line: number;
  readonly message: string;
}

interface Token {
  readonly text: string;
  readonly line: number;
  /** Whether the token begins with a double quote that its line does not close. */
  readonly isOpen: boolean;
}

/** Keywords that a value follows. The values of the last three are not used. */
const FIELDS = ["login", "password", "account", "port", "protocol"];
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);

/**
 * Returns the first entry for the host, and for the user if one is given, that has a password. Reads the file as curl
 * does. An entry may extend over several lines. Words may be in double quotes; `#` before a word begins a comment.
 * Keywords and hosts ignore case. A macro ends at an empty line. The text after the entry is not checked.
 */
export function findInNetrc(
  text: string,
  host: string,
  user: string | undefined,
): Result<NetrcEntry | undefined, NetrcProblem> {
  const tokens = tokensOf(text);
  let entry: { readonly line: number; readonly isSelected: boolean } | undefined;
  let fields = new Map<string, string>();
  const found = (): NetrcEntry | undefined => {
    const login = fields.get("login");
    const password = fields.get("password");
    const isOfUser = user === undefined || login === undefined || login === user;
    return entry?.isSelected === true && password !== undefined && isOfUser
      ? { login, password, line: entry.line }
      : undefined;
  };
  for (const { text: word, line, isOpen } of tokens) {
    if (isOpen) return unended(line);
    const keyword = word.toLowerCase();
    if (keyword === "machine" || keyword === "default") {
      const before = found();
      if (before !== undefined) return ok(before);
      fields = new Map();
      if (keyword === "default") {
        entry = { line, isSelected: true };
        continue;
      }
    } else if (keyword === "macdef") continue;
    else if (!FIELDS.includes(keyword) || entry === undefined) {
      // Entries of other hosts may contain keywords of other programs: skip them.
      if (entry?.isSelected === false) continue;
      // The message leaves the word out, because the word may be part of a password.
      return entry === undefined
        ? problem(line, "machine or default")
        : problem(line, `${FIELDS.join(", ")}, machine or default; a value with blanks stands in double quotes`);
    }
    const next = tokens.next();
    if (next.done === true) return problem(line, `a value after ${keyword}`);
    const { value } = next;
    if (value.isOpen) return unended(value.line);
    if (keyword === "machine") entry = { line, isSelected: value.text.toLowerCase() === host.toLowerCase() };
    else fields.set(keyword, value.text);
  }
  return ok(found());
}

const problem = (line: number, expected: string): Result<never, NetrcProblem> =>
  refuse({ line, message: `expected ${expected}` });

const unended = (line: number): Result<never, NetrcProblem> =>
  problem(line, 'another " at the end of the quoted value, on the same line');

/** Yields the words of the file line by line: a quoted word ends on its line. */
function* tokensOf(text: string): Generator<Token, undefined> {
  let isMacro = false;
  for (const [index, line] of text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .entries()) {
    if (isMacro) {
      isMacro = line.trim() !== "";
      continue;
    }
    for (const [found, quoted] of line.matchAll(/#.*|"((?:[^"\\]|\\.)*)"|".*|[^\s"#]\S*/g)) {
      if (found.startsWith("#")) break;
      const isQuoted = quoted !== undefined;
      const word = isQuoted ? quoted.replace(/\\(.)/g, (_, escaped: string) => ESCAPES.get(escaped) ?? escaped) : found;
      yield { text: word, line: index + 1, isOpen: !isQuoted && found.startsWith('"') };
      if (!isQuoted && found.toLowerCase() === "macdef") {
        isMacro = true;
        break;
      }
    }
  }
  return undefined;
}
