import { readFileSync } from "node:fs";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { input } from "zod";
import type { jobRequestSchema } from "../../../http/api/jobs/job-document.ts";
import { formatOfExtension } from "../../../layer/format.ts";
import { fileFault } from "../../../lib/file/file-fault.ts";
import { type FieldDocument, type FieldGroup, fieldEntries, selectFields } from "../../../plan/job/job-fields.ts";
import { GROUPS } from "../../help-groups.ts";
import { collect, parseWhole, timeZoneOption } from "../shared-options.ts";

/** The help text of the argument `<layer...>`. */
export const LAYERS = "names of layers; * stands for any characters (quote it for the shell)";

/**
 * The fields of a job request. Most flags have the name and value of a field. The server has defaults for absent flags.
 */
type JobRequest = input<typeof jobRequestSchema>;

const PARAMETER_FLAGS = ["parameter", "parameterLike", "parameterRange", "parameterOlderThan"] as const;

/** A choice in a job request: one value, or an object that matches several values. */
type Choice = string | object;
interface KeyChoice {
  readonly key: string;
  readonly choice: Choice;
}

/** Flags that select the tiles of a layer. Several values for one parameter select all of them. */
export interface RangeFlags
  extends Pick<JobRequest, "bounds" | "boundsCrs" | "area" | "areaCrs" | "tiles">,
    Partial<Record<(typeof PARAMETER_FLAGS)[number], readonly KeyChoice[]>> {
  readonly gridSet?: readonly string[];
  readonly allGridSets?: boolean;
  readonly zoom?: Pick<JobRequest, "zoomStart" | "zoomStop">;
  readonly format?: readonly string[];
  readonly allFormats?: boolean;
  readonly allParameters?: boolean;
}

/** Flags for the priority, rate limit and run window of a job. */
export interface TermsFlags extends Pick<JobRequest, "priority"> {
  readonly rateLimit?: number | typeof NO_LIMIT;
  readonly runWindow?: WindowFlag | typeof NO_LIMIT;
  readonly timeZone?: string;
}

/** Flags of commands for jobs that render. */
export interface JobFlags extends RangeFlags, FieldDocument, TermsFlags, Pick<JobRequest, "supersede"> {
  readonly threads?: number;
}

/** The value that removes a limit, because an option of commander cannot have the value null. */
const NO_LIMIT = "none";

/** Two times of day, which the server validates. */
export interface WindowFlag {
  readonly start: string;
  readonly end: string;
}

export const addRangeFlags = (command: Command): Command => addWhereFlags(addTileSetFlags(command));

const addTileSetFlags = (command: Command): Command =>
  command
    .optionsGroup(GROUPS.what)
    .option("--grid-set <grid-set>", "a grid set of the layer; may be repeated", collect)
    .addOption(new Option("--all-grid-sets", "every grid set of the layer").conflicts("gridSet"))
    .option("--format <format>", "a format of the layer, such as image/png or png; may be repeated", collectFormat)
    .addOption(new Option("--all-formats", "every format of the layer").conflicts("format"))
    .option(
      "--parameter <parameter=value>",
      "the value of a parameter filter; repeat it for more values and parameters",
      parseParameter,
    )
    .option(
      "--parameter-like <parameter=pattern>",
      "the values that match a pattern, in which * stands for any characters",
      parseLike,
    )
    .option(
      "--parameter-range <parameter=from..to>",
      "the values from one number or time to another; TIME=2026-01-01.. has no end",
      parseRange,
    )
    .option(
      "--parameter-older-than <parameter=age>",
      "the times before a time, or before an age: P7D is a week ago",
      parseOlder,
    )
    .addOption(
      new Option(
        "--all-parameters",
        "every value that the parameter filters list; for a truncate every value with stored tiles",
      ).conflicts([...PARAMETER_FLAGS]),
    );

/** Adds the flags for one tile set and a range in it. `rangeFields` reads them. */
export const addOneTileSetFlags = (command: Command): Command =>
  addWhereFlags(
    command
      .optionsGroup(GROUPS.what)
      .option("--grid-set <grid-set>", "a grid set of the layer (EPSG:900913, else its first)", alone)
      .option("--format <format>", "a format of the layer, such as image/png or png (its first)", aloneFormat)
      .option("--parameter <parameter=value>", "the value of a parameter filter; may be repeated", parseParameter),
  );

/** Parses an option with one value, as a list, because other commands allow several values. */
const alone = (value: string): readonly string[] => [value];

/** Returns the MIME type of a format that is given by its extension: `png` is image/png. */
const formatType = (name: string): string => formatOfExtension(name.toLowerCase())?.mimeType ?? name;
const collectFormat = (name: string, before?: readonly string[]): string[] => collect(formatType(name), before);
const aloneFormat = (name: string): readonly string[] => alone(formatType(name));

const addWhereFlags = (command: Command): Command =>
  command
    .optionsGroup(GROUPS.where)
    .option("--zoom <levels>", "one level or a range, such as 0-6", parseZoom)
    .option("--bounds <minx,miny,maxx,maxy>", "a box, in the units of the grid set", parseBounds)
    .option("--bounds-crs <code>", "the CRS of the box if it is not that of the grid set, such as EPSG:4326")
    .option("--area <file>", "polygons instead of a box: a file with GeoJSON or WKT", parseArea)
    .option("--area-crs <code>", "the CRS of the polygons if the file does not name it, such as EPSG:4326")
    .option("--tiles <file>", "a list of tiles instead of levels and a box: z/x/y, y from the top", parseTiles);

/** Adds the flags of the fields in `jobFields`. */
export function addFieldFlags(command: Command, only: FieldGroup): Command {
  for (const [, { group, flag }] of fieldEntries) {
    if (group !== only || flag === undefined) continue;
    const option = new Option(flag.option, flag.help).helpGroup(only === "reseeds" ? GROUPS.what : GROUPS.how);
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

/** Adds the flags of commands for jobs that render. */
export const addRenderFlags = (command: Command): Command => addFieldFlags(command.optionsGroup(GROUPS.how), "renders");

/** Adds these flags without the time zone, which for a schedule also applies to its cron expression. */
export const addRateFlags = (command: Command): Command =>
  command
    .optionsGroup(GROUPS.how)
    .option("--priority <priority>", "the job's share of turns: 1 to 100, or low, normal (10), high", parsePriority)
    .option("--rate-limit <rate>", "render at most this number of tiles per second; none: no limit", orNone(parseRate))
    .option(
      "--run-window <from-to>",
      "work only in these hours, such as 22:00-06:00; none: at any time",
      orNone(parseWindowFlag),
    );

export const addTermsFlags = (command: Command): Command =>
  addRateFlags(command).addOption(timeZoneOption("the time zone of the run window"));

/** Returns the request for a job. JSON omits the fields of absent flags. */
export function jobRequest(type: "seed" | "reseed" | "truncate", layers: readonly string[], flags: JobFlags) {
  const { threads: threadCount, supersede } = flags;
  return {
    ...layerFields(layers),
    type,
    ...rangeFields(flags),
    ...selectFields(flags),
    ...{ threadCount, supersede },
    ...termsFields(flags),
  };
}

/** Returns the layer field of a job request: `layer` for one name, `layers` for several names or a pattern. */
export function layerFields(
  layers: readonly string[],
): { readonly layer: string } | { readonly layers: readonly string[] } {
  const [layer] = layers;
  return layers.length === 1 && layer?.includes("*") === false ? { layer } : { layers };
}

/** Returns the range fields of a job request. A field of an absent flag is undefined. */
export const rangeFields = ({ bounds, boundsCrs, area, areaCrs, tiles, ...flags }: RangeFlags) => ({
  ...oneOrMore("gridSet", "gridSets", flags.allGridSets === true ? "*" : flags.gridSet),
  ...flags.zoom,
  ...oneOrMore("format", "formats", flags.allFormats === true ? "*" : flags.format),
  ...{ bounds, boundsCrs, area, areaCrs, tiles },
  ...parameterFields(flags),
});

/** Returns the terms for a job request or a PATCH of a job. A field of an absent flag is undefined. */
export const termsFields = ({ priority, rateLimit, runWindow, timeZone }: TermsFlags) => ({
  priority,
  rateLimit: rateLimit === NO_LIMIT ? null : rateLimit,
  runWindow: runWindow === NO_LIMIT ? null : runWindow && { from: runWindow.start, to: runWindow.end, timeZone },
});

const oneOrMore = <T>(one: string, more: string, given: readonly T[] | "*" | undefined) =>
  given === undefined ? {} : given !== "*" && given.length === 1 ? { [one]: given[0] } : { [more]: given };

/** Returns every combination of the choices that the flags give for the parameters. */
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

function parseZoom(text: string): RangeFlags["zoom"] {
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

/** Reads an area. A text that begins with a brace is GeoJSON, any other text is WKT. The server validates both. */
function parseArea(file: string): unknown {
  const text = readText(file);
  return text.startsWith("{") ? argumentOf("It is not JSON", (): unknown => JSON.parse(text)) : text;
}

function argumentOf<T>(otherwise: string, read: () => T): T {
  let why: string;
  try {
    return read();
  } catch (error) {
    why = fileFault(error);
  }
  throw new InvalidArgumentError(`${otherwise}: ${why}.`);
}

/** Reads the names of tiles, separated by blanks or line breaks. */
const parseTiles = (file: string): readonly string[] => readText(file).split(/\s+/);

const parseChoice =
  (form: string, read: (value: string) => Choice) =>
  (text: string, before: readonly KeyChoice[] = []): readonly KeyChoice[] => {
    const equals = text.indexOf("=");
    if (equals < 1) throw new InvalidArgumentError(`It has the form KEY=${form}.`);
    // Keys are not case-sensitive.
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

export function parseWindowFlag(text: string): WindowFlag {
  const [, start, end] = /^([^-]+)-([^-]+)$/.exec(text) ?? [];
  if (start === undefined || end === undefined) throw new InvalidArgumentError("It has the form 22:00-06:00.");
  return { start: start.trim(), end: end.trim() };
}

const orNone =
  <T>(parse: (text: string) => T) =>
  (text: string): T | typeof NO_LIMIT =>
    text === NO_LIMIT ? NO_LIMIT : parse(text);

const parsePriority = (text: string): number | string =>
  ["low", "normal", "high"].includes(text) ? text : parseWhole(1, 100)(text);

function parseRate(text: string): number {
  const rate = Number(text);
  if (!/^(?:\d+|\d*\.\d+)$/.test(text) || rate <= 0) throw new InvalidArgumentError("A number above 0, or none.");
  return rate;
}
