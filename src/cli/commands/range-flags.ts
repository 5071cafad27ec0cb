import { readFileSync } from "node:fs";
import { type Command, InvalidArgumentError, Option } from "commander";
import { defined } from "../../lib/defined.ts";
import { type FieldDocument, type FieldGroup, fieldEntries, selectFields } from "../../plan/job-fields.ts";
import { collect, parseWhole } from "./shared-options.ts";

/** The help text of the argument `<layer...>`. */
export const LAYERS = "names, in which * stands for any characters (in quotes, for the shell)";

/** Flags that select the tiles of a layer. The server has a default for each absent flag. */
export interface RangeFlags {
  readonly gridSet?: readonly string[];
  readonly allGridSets?: boolean;
  readonly zoom?: ZoomFlag;
  readonly format?: readonly string[];
  readonly allFormats?: boolean;
  readonly bounds?: readonly number[];
  readonly boundsCrs?: string;
  /** Parsed GeoJSON, or WKT as a string. */
  readonly area?: unknown;
  readonly areaCrs?: string;
  readonly tiles?: readonly string[];
  /** Several values of one key select each of them. */
  readonly parameter?: readonly KeyChoice[];
  readonly parameterLike?: readonly KeyChoice[];
  readonly parameterRange?: readonly KeyChoice[];
  readonly parameterOlderThan?: readonly KeyChoice[];
  readonly allParameters?: boolean;
}

/** A choice as in a job request: one value, or an object that matches several values. */
type Choice = string | object;
interface KeyChoice {
  readonly key: string;
  readonly choice: Choice;
}
const PARAMETER_FLAGS = ["parameter", "parameterLike", "parameterRange", "parameterOlderThan"] as const;

/** Flags that filter and order those tiles, and limit how many of them may fail. */
export interface ChoiceFlags extends FieldDocument {
  readonly maxFailures?: number;
}

interface ZoomFlag {
  readonly zoomStart: number;
  readonly zoomStop: number;
}

export const addRangeFlags = (command: Command): Command =>
  command
    .option("--grid-set <grid-set>", "a grid set of the layer; may be given again", collect)
    .addOption(new Option("--all-grid-sets", "each grid set of the layer").conflicts("gridSet"))
    .option("--zoom <levels>", "one level or a range, such as 0-6", parseZoom)
    .option("--format <format>", "a MIME type of the layer, such as image/png; may be given again", collect)
    .addOption(new Option("--all-formats", "each format of the layer").conflicts("format"))
    .option("--bounds <minx,miny,maxx,maxy>", "in the grid set's units", parseBounds)
    .option("--bounds-crs <code>", "of the bounds instead, such as EPSG:4326")
    .option("--area <file>", "polygons instead of bounds: a file of GeoJSON or WKT", parseArea)
    .option("--area-crs <code>", "of the area, such as EPSG:4326; else what its format has")
    .option("--tiles <file>", "a file of tiles instead of zooms and bounds: z/x/y, y from the top", parseTiles)
    .option(
      "--parameter <parameter=value>",
      "of a parameter filter; may be given again, with another value of the same key for both",
      parseParameter,
    )
    .option("--parameter-like <parameter=pattern>", "each value that a pattern with * means", parseLike)
    .option("--parameter-range <parameter=from..to>", "each from one number or time to another, or on", parseRange)
    .option("--parameter-older-than <parameter=age>", "each time before: an age such as P7D, or a time", parseOlder)
    .addOption(
      new Option("--all-parameters", "each value that the filters list; truncates: all that is kept").conflicts([
        ...PARAMETER_FLAGS,
      ]),
    );

/** Adds the flags of the fields in `jobFields`. */
export function addFieldFlags(command: Command, only: FieldGroup): Command {
  for (const [, { group, flag }] of fieldEntries) {
    if (group !== only) continue;
    const option = new Option(flag.option, flag.help);
    const { choices, parse } = flag;
    if (choices !== undefined) option.choices(choices);
    if (parse !== undefined)
      option.argParser((text) => {
        const value = parse.read(text);
        if (value === undefined) throw new InvalidArgumentError(parse.expected);
        return value;
      });
    command.addOption(option);
  }
  return command;
}

/** Adds the flags of commands whose jobs render. */
export const addRenderFlags = (command: Command): Command =>
  addFieldFlags(
    command.option("--max-failures <n>", "failed tiles that end it (1000)", parseWhole(0, Number.MAX_SAFE_INTEGER)),
    "renders",
  );

export const choiceFields = (flags: ChoiceFlags) => ({
  ...selectFields(flags),
  ...defined({ maxFailures: flags.maxFailures }),
});

export const isRangeGiven = (flags: RangeFlags): boolean =>
  Object.values(rangeFields(flags)).some((field) => field !== undefined);

/** Returns the layer field of a job request: `layer` for one name, `layers` for several names or a pattern. */
export function layerFields(
  layers: readonly string[],
): { readonly layer: string } | { readonly layers: readonly string[] } {
  const [layer] = layers;
  return layers.length === 1 && layer?.includes("*") === false ? { layer } : { layers };
}

/** Returns the range fields of a job request. A field of an absent flag is undefined, and JSON leaves it out. */
export const rangeFields = (flags: RangeFlags) => ({
  ...oneOrMore("gridSet", "gridSets", flags.allGridSets === true ? "*" : flags.gridSet),
  ...flags.zoom,
  ...oneOrMore("format", "formats", flags.allFormats === true ? "*" : flags.format),
  bounds: flags.bounds,
  boundsCrs: flags.boundsCrs,
  area: flags.area,
  areaCrs: flags.areaCrs,
  tiles: flags.tiles,
  ...parameterFields(flags),
});

const oneOrMore = <T>(one: string, more: string, given: readonly T[] | "*" | undefined) =>
  given === undefined ? {} : given !== "*" && given.length === 1 ? { [one]: given[0] } : { [more]: given };

/** Returns every combination of the choices that the flags give for each key. */
function parameterFields(flags: RangeFlags): object {
  if (flags.allParameters === true) return { parameterSets: "*" };
  const byKey = new Map<string, Choice[]>();
  for (const { key, choice } of PARAMETER_FLAGS.flatMap((flag) => flags[flag] ?? []))
    byKey.set(key, [...(byKey.get(key) ?? []), choice]);
  if (byKey.size === 0) return {};
  let sets: readonly Readonly<Record<string, Choice>>[] = [{}];
  for (const [key, choices] of byKey)
    sets = sets.flatMap((set) => choices.map((choice) => ({ ...set, [key]: choice })));
  const [only] = sets;
  const isOne = sets.length === 1 && Object.values(only ?? {}).every((choice) => typeof choice === "string");
  return isOne ? { parameters: only } : { parameterSets: sets };
}

function parseZoom(text: string): ZoomFlag {
  const [, first, last] = /^(\d{1,3})(?:-(\d{1,3}))?$/.exec(text) ?? [];
  const zoomStart = Number(first);
  const zoomStop = Number(last ?? first);
  if (first === undefined || zoomStart > zoomStop)
    throw new InvalidArgumentError("It has the form 4, or 0-6 with the smaller level first.");
  return { zoomStart, zoomStop };
}

function parseBounds(text: string): readonly number[] {
  const parts = text.split(",").map((part) => part.trim());
  const numbers = parts.map(Number);
  if (numbers.length !== 4 || parts.includes("") || !numbers.every(Number.isFinite))
    throw new InvalidArgumentError("Four numbers with commas: minx,miny,maxx,maxy.");
  return numbers;
}

function readText(file: string): string {
  return argumentOf("It cannot be read", () => readFileSync(file, "utf8"))
    .replace(/^\uFEFF/, "")
    .trim();
}

/** Reads an area. Text that begins with a brace is GeoJSON, any other text is WKT. The server validates both. */
function parseArea(file: string): unknown {
  const text = readText(file);
  return text.startsWith("{") ? argumentOf("It is not JSON", (): unknown => JSON.parse(text)) : text;
}

function argumentOf<T>(otherwise: string, read: () => T): T {
  let why: string;
  try {
    return read();
  } catch (error) {
    why = error instanceof Error ? error.message : String(error);
  }
  throw new InvalidArgumentError(`${otherwise}: ${why}.`);
}

/** Reads the names of tiles, separated by blanks or line ends. */
const parseTiles = (file: string): readonly string[] => readText(file).split(/\s+/);

const parseChoice =
  (form: string, read: (value: string) => Choice) =>
  (text: string, before: readonly KeyChoice[] = []): readonly KeyChoice[] => {
    const equals = text.indexOf("=");
    if (equals < 1) throw new InvalidArgumentError(`It has the form KEY=${form}.`);
    // Keys ignore case.
    return [...before, { key: text.slice(0, equals).toUpperCase(), choice: read(text.slice(equals + 1)) }];
  };

const parseParameter = parseChoice("VALUE", (value) => value);
const parseLike = parseChoice("PATTERN", (like) => ({ like }));
const parseOlder = parseChoice("AGE", (olderThan) => ({ olderThan }));
const parseRange = parseChoice("FROM..TO", (value) => {
  const dots = value.indexOf("..");
  const [from, to] = dots < 0 ? ["", ""] : [value.slice(0, dots), value.slice(dots + 2)];
  if (from === "" && to === "")
    throw new InvalidArgumentError("It has the form KEY=FROM..TO; one of the two may be left out.");
  return { ...(from === "" ? {} : { from }), ...(to === "" ? {} : { to }) };
});
