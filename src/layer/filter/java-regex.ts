import { ok, type Result, refuse } from "../../lib/result.ts";

/** Inclusive ranges of code points. */
type Ranges = readonly (readonly [first: number, last: number])[];

const LAST_CODE_POINT = 0x10ffff;
const VERTICAL_SPACE: Ranges = [
  [0x0a, 0x0d],
  [0x85, 0x85],
  [0x2028, 0x2029],
];

/**
 * The predefined classes of `java.util.regex.Pattern`; a capital letter is the complement. RE2 defines some classes
 * differently and lacks other classes.
 */
const PREDEFINED: ReadonlyMap<string, Ranges> = new Map<string, Ranges>([
  ["d", [[0x30, 0x39]]],
  [
    "h",
    [
      [0x09, 0x09],
      [0x20, 0x20],
      [0xa0, 0xa0],
      [0x1680, 0x1680],
      [0x180e, 0x180e],
      [0x2000, 0x200a],
      [0x202f, 0x202f],
      [0x205f, 0x205f],
      [0x3000, 0x3000],
    ],
  ],
  [
    "s",
    [
      [0x09, 0x0d],
      [0x20, 0x20],
    ],
  ],
  ["v", VERTICAL_SPACE],
  [
    "w",
    [
      [0x30, 0x39],
      [0x41, 0x5a],
      [0x5f, 0x5f],
      [0x61, 0x7a],
    ],
  ],
]);

/** The names in `\p{…}` that Java defines as sets of ASCII (and Latin 1) characters. */
const POSIX: ReadonlyMap<string, Ranges> = new Map<string, Ranges>([
  ["Lower", [[0x61, 0x7a]]],
  ["Upper", [[0x41, 0x5a]]],
  ["ASCII", [[0x00, 0x7f]]],
  [
    "Alpha",
    [
      [0x41, 0x5a],
      [0x61, 0x7a],
    ],
  ],
  ["Digit", [[0x30, 0x39]]],
  [
    "Alnum",
    [
      [0x30, 0x39],
      [0x41, 0x5a],
      [0x61, 0x7a],
    ],
  ],
  [
    "Punct",
    [
      [0x21, 0x2f],
      [0x3a, 0x40],
      [0x5b, 0x60],
      [0x7b, 0x7e],
    ],
  ],
  ["Graph", [[0x21, 0x7e]]],
  ["Print", [[0x20, 0x7e]]],
  [
    "Blank",
    [
      [0x09, 0x09],
      [0x20, 0x20],
    ],
  ],
  [
    "Cntrl",
    [
      [0x00, 0x1f],
      [0x7f, 0x7f],
    ],
  ],
  [
    "XDigit",
    [
      [0x30, 0x39],
      [0x41, 0x46],
      [0x61, 0x66],
    ],
  ],
  [
    "Space",
    [
      [0x09, 0x0d],
      [0x20, 0x20],
    ],
  ],
  ["L1", [[0x00, 0xff]]],
]);

const CONTROLS: ReadonlyMap<string, number> = new Map([
  ["t", 0x09],
  ["n", 0x0a],
  ["r", 0x0d],
  ["f", 0x0c],
  ["a", 0x07],
  ["e", 0x1b],
]);

/** Java's escapes that RE2 cannot express, with the reason of the refusal. */
const UNTRANSLATABLE: ReadonlyMap<string, string> = new Map([
  ["k", "a reference back to a group"],
  ["X", "a grapheme cluster"],
  ["G", "the end of the previous match"],
  ["Z", "an end before a last line break"],
  ["N", "a character by its name"],
]);

/** Carries the reason of a refusal. Only `re2FromJava` catches it. */
class NotTranslatable extends Error {}

interface Options {
  /** Whether letters of all alphabets are folded, as by Java's flag `UNICODE_CASE`. */
  readonly unicodeCase: boolean;
}

/**
 * Translates an expression of Java (`java.util.regex.Pattern`, Java 17) into RE2's syntax, so that it matches the same
 * values. In Java `.` matches no line break, `(?i)` folds ASCII only, `\h` is horizontal white space, and `\p{Alnum}`
 * is a set of ASCII. Refuses a part that RE2 would interpret differently, and names it. Passes on the parts that RE2
 * refuses itself (look-around, possessive quantifiers).
 */
export function re2FromJava(regex: string, options: Options): Result<string, string> {
  try {
    return ok(translated(regex, options));
  } catch (error) {
    if (error instanceof NotTranslatable) return refuse(error.message);
    throw error;
  }
}

function translated(regex: string, { unicodeCase }: Options): string {
  let out = "";
  /** The flags of the open groups. The innermost group is last. */
  const outer: { fold: boolean; dotAll: boolean }[] = [];
  let flags = { fold: unicodeCase, dotAll: false };
  for (let at = 0; at < regex.length; ) {
    const rest = regex.slice(at);
    const group = /^\(\?(?:<([a-zA-Z][a-zA-Z0-9]*)>|([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)]))/.exec(rest);
    const repeated = /^\{\d+(?:,\d*)?\}/.exec(rest);
    if (group !== null) {
      const [whole, name, on = "", off = "", end] = group;
      if (name !== undefined || end === ":") outer.push(flags);
      else if (/^(?:[*+?]|\{\d)/.test(rest.slice(whole.length)))
        throw new NotTranslatable(`nothing to repeat after ${whole}`);
      flags = flagsAfter(flags, on, off, whole);
      out += name === undefined ? re2Flags(on, off, end ?? "", unicodeCase) : `(?P<${name}>`;
      at += whole.length;
    } else if (rest.startsWith("(?"))
      throw new NotTranslatable(
        `invalid or unsupported syntax: \`${rest.slice(0, 2) + (/^<?./.exec(rest.slice(2))?.[0] ?? "")}\``,
      );
    else if (rest.startsWith("(")) {
      outer.push(flags);
      out += "(";
      at++;
    } else if (rest.startsWith(")")) {
      flags = outer.pop() ?? flags;
      out += ")";
      at++;
    } else if (repeated !== null) {
      out += repeated[0];
      at += repeated[0].length;
    } else if (rest.startsWith("{")) throw new NotTranslatable("{ begins no count: the character is written \\{");
    else if (rest.startsWith("[")) {
      const characters = charactersOf(regex, at, flags.fold);
      out += re2Set(characters, flags.fold && !unicodeCase);
      at = characters.end;
    } else if (rest.startsWith("\\")) {
      const { value, end } = escapeAt(regex, at, "outside", flags.fold);
      if (typeof value === "string") out += value;
      // A predefined class must not be folded: RE2 would add letters outside of ASCII whose other case is in the class.
      else if (!value.isSingle && value.named === "")
        out += flags.fold ? `(?-i:${set(value.ranges)})` : set(value.ranges);
      else out += re2Set(value, flags.fold && !unicodeCase);
      at = end;
    } else if (rest.startsWith(".")) {
      // A dot has no case. RE2 would fold each of a million characters, which takes 6 ms per dot.
      const any = flags.dotAll ? "(?s:.)" : set(complement(LINE_TERMINATORS));
      out += flags.fold ? `(?-i:${any})` : any;
      at++;
    } else if ("^$|*+?".includes(rest.charAt(0))) {
      out += rest.charAt(0);
      at++;
    } else {
      const code = regex.codePointAt(at) ?? 0;
      out += re2Set({ ranges: [[code, code]], named: "", isNegated: false }, flags.fold && !unicodeCase);
      at += code > 0xffff ? 2 : 1;
    }
  }
  return out;
}

/** Java's line terminators, which `.` does not match. `\v` also matches a vertical tab and a form feed. */
const LINE_TERMINATORS: Ranges = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x85, 0x85],
  [0x2028, 0x2029],
];

function flagsAfter<T extends { fold: boolean; dotAll: boolean }>(before: T, on: string, off: string, text: string): T {
  const unknown = [...on, ...off].find((flag) => !"ismu".includes(flag));
  if (unknown !== undefined) throw new NotTranslatable(`the flag ${unknown} of ${text} has no equivalent in RE2`);
  const now = (flag: string, was: boolean): boolean => (off.includes(flag) ? false : on.includes(flag) || was);
  return { ...before, fold: now("i", before.fold), dotAll: now("s", before.dotAll) };
}

/**
 * Returns RE2's flags: `m`, and `i` if letters of all alphabets are folded. Otherwise the sets contain both cases, and
 * RE2 needs no `i`.
 */
function re2Flags(on: string, off: string, end: string, unicodeCase: boolean): string {
  const kept = (flags: string): string =>
    [...flags].filter((flag) => flag === "m" || (unicodeCase && flag === "i")).join("");
  if (!unicodeCase && on.includes("u") && on.includes("i")) return re2Flags(on, off, end, true);
  const minus = kept(off);
  const text = kept(on) + (minus === "" ? "" : `-${minus}`);
  return end === ":" ? `(?${text}:` : text === "" ? "" : `(?${text})`;
}

/** A set of characters: ranges, and Unicode classes in RE2's syntax. */
interface Characters {
  readonly ranges: Ranges;
  readonly named: string;
  readonly isNegated: boolean;
}

/** Reads the set in brackets that begins at `start`. */
function charactersOf(regex: string, start: number, folds: boolean): Characters & { readonly end: number } {
  let at = start + 1;
  const isNegated = regex[at] === "^";
  if (isNegated) at++;
  const first = at;
  const ranges: (readonly [number, number])[] = [];
  let named = "";
  for (;;) {
    if (at >= regex.length) throw new NotTranslatable("missing closing ]");
    if (regex[at] === "]" && at > first) return { ranges, named, isNegated, end: at + 1 };
    if (regex.startsWith("&&", at))
      throw new NotTranslatable("&& within brackets, an intersection, has no equivalent in RE2");
    if (regex[at] === "[")
      throw new NotTranslatable(
        "[ within brackets, a union, has no equivalent in RE2: write \\[, or \\p{Alpha} for [:alpha:]",
      );
    const member = memberAt(regex, at, folds);
    at = member.end;
    if (typeof member.value !== "number") {
      ranges.push(...member.value.ranges);
      named += member.value.named;
      continue;
    }
    const hasRange = regex[at] === "-" && regex[at + 1] !== "]" && at + 1 < regex.length;
    if (!hasRange) {
      ranges.push([member.value, member.value]);
      continue;
    }
    if (regex[at + 1] === "[")
      throw new NotTranslatable("[ within brackets, a union, has no equivalent in RE2: write \\[");
    const last = memberAt(regex, at + 1, folds);
    if (typeof last.value !== "number" || last.value < member.value)
      throw new NotTranslatable(`invalid character class range: \`${regex.slice(at - 1, last.end)}\``);
    ranges.push([member.value, last.value]);
    at = last.end;
  }
}

/** Reads a member of a set, which is a character or a class. */
function memberAt(
  regex: string,
  at: number,
  folds: boolean,
): { readonly value: number | Characters; readonly end: number } {
  if (regex[at] !== "\\") {
    const code = regex.codePointAt(at) ?? 0;
    return { value: code, end: at + (code > 0xffff ? 2 : 1) };
  }
  const { value, end } = escapeAt(regex, at, "inside", folds);
  if (typeof value === "string") throw new NotTranslatable(`\\${regex.charAt(at + 1)} within brackets is no character`);
  const [only] = value.ranges;
  const isOne = value.isSingle && only !== undefined;
  return { value: isOne ? only[0] : value, end };
}

/**
 * Reads the escape whose backslash is at `at`. Returns RE2 syntax (an assertion, a quotation) or a set of characters,
 * and the end of the escape.
 */
function escapeAt(
  regex: string,
  at: number,
  place: "inside" | "outside",
  folds: boolean,
): { readonly value: string | (Characters & { readonly isSingle: boolean }); readonly end: number } {
  const letter = regex.charAt(at + 1);
  const one = (code: number, end: number) =>
    ({ value: { ranges: [[code, code]] as const, named: "", isNegated: false, isSingle: true }, end }) as const;
  const many = (ranges: Ranges, end: number) =>
    ({ value: { ranges, named: "", isNegated: false, isSingle: false }, end }) as const;
  const rest = regex.slice(at + 2);
  const end = at + 2;
  const control = CONTROLS.get(letter);
  if (control !== undefined) return one(control, end);
  const ranges = PREDEFINED.get(letter);
  if (ranges !== undefined) return many(ranges, end);
  const complemented = PREDEFINED.get(letter.toLowerCase());
  if (complemented !== undefined) return many(complement(complemented), end);
  if (letter === "p" || letter === "P") return propertyAt(regex, at, folds);
  const hex = /^x(?:([0-9a-fA-F]{2})|\{([0-9a-fA-F]{1,6})\})/.exec(regex.slice(at + 1));
  if (hex !== null) return one(codePoint(hex[1] ?? hex[2] ?? "", regex, at), at + 1 + hex[0].length);
  const pair = /^u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})/.exec(regex.slice(at + 1));
  if (pair !== null) {
    const unit = (text: string | undefined): string => String.fromCharCode(Number.parseInt(text ?? "", 16));
    return one((unit(pair[1]) + unit(pair[2])).codePointAt(0) ?? 0, at + 1 + pair[0].length);
  }
  const unit = /^u([0-9a-fA-F]{4})/.exec(regex.slice(at + 1));
  if (unit !== null) return one(codePoint(unit[1] ?? "", regex, at), at + 6);
  const octal = /^0([0-3][0-7]{2}|[0-7]{1,2})/.exec(regex.slice(at + 1));
  if (octal !== null) return one(Number.parseInt(octal[1] ?? "", 8), at + 1 + octal[0].length);
  if (letter === "c" && rest !== "") return one(rest.charCodeAt(0) ^ 64, at + 3);
  if (place === "outside") {
    if ("bBAz".includes(letter) && letter !== "" && !rest.startsWith("{")) return { value: `\\${letter}`, end };
    // An expression matches the whole value, so nothing follows its end.
    if (letter === "Z" && /^\)*$/.test(rest)) return { value: "\\z", end };
    if (letter === "R") return { value: `(?:\\r\\n|${set(VERTICAL_SPACE)})`, end };
    if (letter === "Q") return quotation(regex, at);
  } else if (letter === "Q") throw new NotTranslatable("\\Q within brackets has no equivalent in RE2");
  if (/[1-9]/.test(letter)) throw new NotTranslatable(`invalid escape sequence: \`\\${letter}\``);
  const why = UNTRANSLATABLE.get(letter);
  if (why !== undefined) throw new NotTranslatable(`\\${letter} is ${why} in Java, and has no equivalent in RE2`);
  if (letter === "" || /[a-zA-Z0]/.test(letter)) throw new NotTranslatable(`invalid escape sequence: \`\\${letter}\``);
  const code = regex.codePointAt(at + 1) ?? 0;
  return one(code, at + 1 + (code > 0xffff ? 2 : 1));
}

function codePoint(hex: string, regex: string, at: number): number {
  const code = Number.parseInt(hex, 16);
  if (code > LAST_CODE_POINT) throw new NotTranslatable(`no code point: \`${regex.slice(at, at + 12)}\``);
  return code;
}

function quotation(regex: string, at: number): { readonly value: string; readonly end: number } {
  const close = regex.indexOf("\\E", at + 2);
  const text = regex.slice(at + 2, close < 0 ? undefined : close);
  return {
    value: [...text].map((one) => escaped(one.codePointAt(0) ?? 0)).join(""),
    end: close < 0 ? regex.length : close + 2,
  };
}

/** Reads `\p{…}`, `\P{…}`, `\pL`. Passes a Unicode script or category on to RE2. */
function propertyAt(
  regex: string,
  at: number,
  folds: boolean,
): { readonly value: Characters & { readonly isSingle: false }; readonly end: number } {
  const given = /^(?:\{([^}]*)\}|([A-Za-z]))/.exec(regex.slice(at + 2));
  if (given === null) throw new NotTranslatable(`invalid character class range: \`${regex.slice(at, at + 4)}\``);
  const end = at + 2 + given[0].length;
  const isComplement = regex[at + 1] === "P";
  const name = given[1] ?? given[2] ?? "";
  const posix = POSIX.get(folds && (name === "Upper" || name === "Lower") ? "Alpha" : name);
  if (posix !== undefined)
    return {
      value: { ranges: isComplement ? complement(posix) : posix, named: "", isNegated: false, isSingle: false },
      end,
    };
  const known = /^(?:(?:Is|script=|sc=|general_category=|gc=)?)([A-Za-z_]+)$/.exec(name)?.[1] ?? name;
  return {
    value: { ranges: [], named: `\\${regex.charAt(at + 1)}{${known}}`, isNegated: false, isSingle: false },
    end,
  };
}

/** Returns all code points outside of `ranges`, which must be ascending. */
function complement(ranges: Ranges): Ranges {
  const outside: (readonly [number, number])[] = [];
  let next = 0;
  for (const [first, last] of ranges) {
    if (first > next) outside.push([next, first - 1]);
    next = last + 1;
  }
  if (next <= LAST_CODE_POINT) outside.push([next, LAST_CODE_POINT]);
  return outside;
}

const escaped = (code: number): string =>
  (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a)
    ? String.fromCodePoint(code)
    : `\\x{${code.toString(16)}}`;

const rangesText = (ranges: Ranges): string =>
  ranges.map(([first, last]) => (first === last ? escaped(first) : `${escaped(first)}-${escaped(last)}`)).join("");

const set = (ranges: Ranges): string => `[${rangesText(ranges)}]`;

/** Writes a set for RE2. With `foldsAscii` the set contains both cases of its ASCII letters. */
function re2Set({ ranges, named, isNegated }: Characters, foldsAscii: boolean): string {
  const all = foldsAscii ? [...ranges, ...otherCase(ranges)] : ranges;
  const [only] = all;
  if (!isNegated && named === "" && all.length === 1 && only !== undefined && only[0] === only[1])
    return escaped(only[0]);
  const text = `[${isNegated ? "^" : ""}${rangesText(all)}${named}]`;
  return foldsAscii && named !== "" ? `(?i:${text})` : text;
}

/** Returns the opposite case of the ASCII letters in `ranges`. */
function otherCase(ranges: Ranges): Ranges {
  const part = (from: number, to: number, shift: number): Ranges =>
    ranges
      .map(([first, last]) => [Math.max(first, from) + shift, Math.min(last, to) + shift] as const)
      .filter(([first, last]) => first <= last);
  return [...part(0x41, 0x5a, 32), ...part(0x61, 0x7a, -32)];
}
