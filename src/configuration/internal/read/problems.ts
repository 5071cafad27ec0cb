import { resolve } from "node:path";
import { shown } from "../../../lib/refusal.ts";
import { maskedAddress, secretPartAt } from "../../../lib/text/masked.ts";
import type { ConfigurationProblem, Origin } from "../../problem.ts";

/** Keys and indexes from the root of the document. */
export type Path = readonly (string | number)[];

export const pathText = (path: Path): string =>
  path
    .map((key, i) =>
      typeof key === "number"
        ? `[${key}]`
        : /^[\w-]+$/.test(key)
          ? `${i === 0 ? "" : "."}${key}`
          : `[${JSON.stringify(key)}]`,
    )
    .join("");

/** Returns whether `path` is `above` or lies below it. */
export const isWithin = (path: Path, above: Path): boolean =>
  above.length <= path.length && above.every((key, i) => key === path[i]);

/** The origins of values. The part `key` selects the position of the key, `value` the position of its value. */
export interface Origins {
  originOf(path: Path, part: "key" | "value"): Origin;
  /** Returns the path of a value in the file that has it: an included file counts its own items. */
  pathIn(path: Path): Path;
  /**
   * Returns the directory that a relative file name in a value starts from: the directory of the configuration file
   * with the value. For values of flags, variables, requests and defaults it is the working directory.
   */
  directoryOf(path: Path): string;
  /**
   * Returns a value as written in the file if variables were replaced in it, because the replaced text may be a secret.
   */
  writtenAs(path: Path): string | undefined;
}

/** Returns the text of a value for messages. Undefined for secrets, maps and lists. */
export function display(path: Path, value: unknown, origins: Pick<Origins, "writtenAs">): string | undefined {
  const part = secretPartAt(path);
  const secret =
    // Many addresses of webhooks contain a key.
    (part !== undefined && part !== "address") ||
    // By mistake a user may be a text such as `admin:secret`.
    (path[0] === "users" && path.length < 3) ||
    ((path[0] === "webhooks" || path[0] === "databases") && path.length < 3) ||
    (path[0] === "purge" && (path.length < 3 || path.at(-1) === "body"));
  if (secret || value === undefined || (typeof value === "object" && value !== null)) return undefined;
  const written = origins.writtenAs(path) ?? value;
  const isAddress = typeof written === "string" && (part === "address" || written.includes("://"));
  return shown(isAddress ? maskedAddress(written) : written);
}

const sentenceText = (sentence: Sentence): string => (typeof sentence === "string" ? sentence : sentence());

const kindOf = (value: unknown): string =>
  Array.isArray(value) ? "a list" : typeof value === "object" && value !== null ? "a map" : "another value";

/** The most problems, and the most warnings, that are reported one by one. */
const MOST_PROBLEMS = 100;

/**
 * The most problems, and the most warnings, whose sentences are made, because a sentence may search for a similar name.
 */
const MOST_SENTENCES = 2 * MOST_PROBLEMS;

/** A text, or a function that makes it. The function is called only for the first problems. */
type Sentence = string | (() => string);

/**
 * Returns the first problems, and as the last one the number of all further problems. `more` problems are not in the
 * list.
 */
function firstOnes(
  problems: readonly ConfigurationProblem[],
  more: number,
  kind: string,
): readonly ConfigurationProblem[] {
  const others = Math.max(0, problems.length - MOST_PROBLEMS) + more;
  if (others === 0) return problems;
  const file = problems[Math.min(MOST_PROBLEMS, problems.length - 1)]?.file ?? "the configuration";
  return [...problems.slice(0, MOST_PROBLEMS), { file, path: "", message: `and ${others} more ${kind}` }];
}

/** Returns each problem once: a wrong value in the defaults of layers is found in each layer that inherits it. */
const distinct = (problems: readonly ConfigurationProblem[]): ConfigurationProblem[] => [
  ...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values(),
];

/** Returns a path and all its parents, as JSON. */
const upTo = (path: Path): readonly string[] =>
  Array.from({ length: path.length + 1 }, (_, length) => JSON.stringify(path.slice(0, length)));

/** Adds a path and all its parents, as JSON, to a set that only this function has filled. */
function addUpTo(path: Path, added: Set<string>): void {
  for (let length = path.length; length >= 0; length--) {
    const above = JSON.stringify(path.slice(0, length));
    if (added.has(above)) return;
    added.add(above);
  }
}

/** Collects the problems of one configuration. */
export class Problems {
  readonly #origins: Origins;
  readonly #found: { readonly path: Path; readonly problem: ConfigurationProblem }[] = [];

  readonly #warned: { readonly path: Path; readonly problem: ConfigurationProblem }[] = [];
  /** The paths of problems and warnings without a sentence. */
  readonly #moreFound: Path[] = [];
  readonly #moreWarned: Path[] = [];
  /**
   * The positions of problems and of warnings with a sentence. A wrong default of layers is found in many layers, at
   * one position.
   */
  readonly #placesFound = new Set<string>();
  readonly #placesWarned = new Set<string>();
  /**
   * Three sets of JSON paths: the skipped values; the lists that contain a skipped value; the skipped values and all
   * their parents.
   */
  readonly #skipped = new Set<string>();
  readonly #listsWithSkipped = new Set<string>();
  readonly #aboveSkipped = new Set<string>();
  /** The paths of all problems and their parents, as JSON. */
  readonly #within = new Set<string>();

  constructor(origins: Origins) {
    this.#origins = origins;
  }

  /** Returns the absolute path of a file that a value names. */
  fileAt(path: Path, name: string): string {
    return resolve(this.#origins.directoryOf(path), name);
  }

  /** Adds the problem `layers[0].gutter: SENTENCE`. */
  add(path: Path, sentence: Sentence, part: "key" | "value" = "value"): void {
    this.#put(path, () => this.#problem(path, sentenceText(sentence), part));
  }

  /** Adds the problem `layers[0].gutter: expected WHAT, got VALUE`. */
  expected(path: Path, what: string, value: unknown): void {
    this.#put(path, () => {
      const text = display(path, value, this.#origins);
      const problem = this.#problem(path, `expected ${what}, got ${text ?? kindOf(value)}`, "value");
      return text === undefined ? problem : { ...problem, value: text };
    });
  }

  #put(path: Path, problem: () => ConfigurationProblem): void {
    if (this.#isAmong(this.#placesFound, path)) this.#found.push({ path, problem: problem() });
    else this.#moreFound.push(path);
    addUpTo(path, this.#within);
  }

  /** Adds the warning `layers[0].name: SENTENCE`. A configuration with warnings is valid. */
  warn(path: Path, sentence: Sentence): void {
    if (this.#isAmong(this.#placesWarned, path))
      this.#warned.push({ path, problem: this.#problem(path, sentenceText(sentence), "value") });
    else this.#moreWarned.push(path);
  }

  #problem(path: Path, sentence: string, part: "key" | "value"): ConfigurationProblem {
    const where = pathText(this.#origins.pathIn(path));
    const message = where === "" ? sentence : `${where}: ${sentence}`;
    return { ...this.#origins.originOf(path, part), path: where, message };
  }

  /**
   * Records that a value is not known here. Leaves out its problems, and problems of a list that contains it. Parts
   * that depend on the value are not checked, as if it were invalid.
   */
  skip(path: Path): void {
    this.#skipped.add(JSON.stringify(path));
    if (typeof path.at(-1) === "number") this.#listsWithSkipped.add(JSON.stringify(path.slice(0, -1)));
    addUpTo(path, this.#aboveSkipped);
  }

  get warnings(): readonly ConfigurationProblem[] {
    const known = distinct(this.#warned.filter(({ path }) => this.#isKnown(path)).map(({ problem }) => problem));
    return firstOnes(known, this.#countOf(this.#moreWarned), "warnings");
  }

  /** Returns whether there is a problem or a skipped value at or below a path. */
  within(path: Path): boolean {
    return this.#within.has(JSON.stringify(path)) || this.hasSkipped(path);
  }

  /** Returns whether a value at or below a path was skipped. */
  hasSkipped(path: Path): boolean {
    return this.#aboveSkipped.has(JSON.stringify(path));
  }

  /** Returns whether the position of a path is one of the first positions. Adds it while there are few enough. */
  #isAmong(places: Set<string>, path: Path): boolean {
    const place = this.#placeOf(path);
    if (places.has(place)) return true;
    if (places.size >= MOST_SENTENCES) return false;
    places.add(place);
    return true;
  }

  #placeOf(path: Path): string {
    return JSON.stringify(this.#origins.pathIn(path));
  }

  #countOf(paths: readonly Path[]): number {
    return new Set(paths.filter((path) => this.#isKnown(path)).map((path) => this.#placeOf(path))).size;
  }

  #isKnown(path: Path): boolean {
    if (this.#skipped.size === 0) return true;
    return !upTo(path).some((above) => this.#skipped.has(above)) && !this.#listsWithSkipped.has(JSON.stringify(path));
  }

  /** The problems grouped by file, in the order of each file. Problems without a file come last. */
  get list(): readonly ConfigurationProblem[] {
    const known = distinct(this.#found.filter(({ path }) => this.#isKnown(path)).map(({ problem }) => problem));
    const files = [...new Set(known.map(({ file }) => file))];
    const rank = ({ file, line }: ConfigurationProblem): number =>
      line === undefined ? files.length : files.indexOf(file);
    const line = ({ line, column }: ConfigurationProblem) =>
      (line ?? Number.MAX_SAFE_INTEGER / 2000) * 1000 + (column ?? 0);
    const sorted = known.sort((a, b) => rank(a) - rank(b) || line(a) - line(b));
    return firstOnes(sorted, this.#countOf(this.#moreFound), "problems");
  }
}
