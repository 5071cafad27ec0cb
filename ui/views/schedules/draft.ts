import { asJson, asNumber, JOB_OPTIONS } from "../../core/model/job-options.ts";
import { nuthatchCommand, optionWords, parameterWords } from "../../core/server/command.ts";
import { isRecord, jsonText } from "../../core/server/json.ts";
import type { Schedule } from "./schedule-actions.tsx";

type Fields = Readonly<Record<string, unknown>>;

/** The description of a schedule in the form. Texts are as the user has typed them. */
export interface Draft {
  readonly name: string;
  readonly cron: string;
  readonly timeZone: string;
  /** Times of day. Both are empty without a window. */
  readonly start: string;
  readonly end: string;
  readonly missed: Schedule["missed"];
  readonly type: string;
  /** A layer, or several layers and patterns with commas. */
  readonly layer: string;
  /** Empty for the layer's own grid set, "*" for all. */
  readonly gridSet: string;
  readonly format: string;
  readonly zoomStart: string;
  readonly zoomStop: string;
  /** Four numbers with commas. Empty for the whole layer. */
  readonly bounds: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** All further fields of the job as JSON. */
  readonly more: string;
  /** Fields that are too large to be typed: an area or a list of tiles. */
  readonly kept: Fields;
}

const LARGE = ["area", "areaCrs", "tiles"];
const NUMBERS = /^(zoomStart|zoomStop|srs|totalFailuresBeforeAborting)$/;
const TEXTS = /^(layer|layers|type|gridSet|format|areaCrs|boundsCrs|area)$/;
const VALUES = /^(parameters|parameterSets|gridSets|formats|tiles|bounds|supersede)$/;
const OPTIONS = new Map(JOB_OPTIONS.map(({ name, read }) => [name, read]));

/** Returns the job in the query of the form: JSON in the key `job`, or single fields as in the form of a new job. */
export function jobOf(query: URLSearchParams): Fields {
  const whole = parseJsonObject(query.get("job") ?? "");
  if (whole !== undefined) return whole;
  const fields: [string, unknown][] = [];
  for (const [name, text] of query) {
    if (text === "") continue;
    const read = OPTIONS.get(name);
    if (read !== undefined) fields.push([name, read(text)]);
    else if (NUMBERS.test(name)) fields.push([name, asNumber(text)]);
    else if (name === "bounds") fields.push([name, numbersOf(text)]);
    else if (TEXTS.test(name)) fields.push([name, name === "area" ? asJson(text) : text]);
    else if (VALUES.test(name)) fields.push([name, asJson(text)]);
  }
  return Object.fromEntries(fields);
}

/** Returns the draft of a new schedule for a job. The hours of the job become the hours of the schedule. */
export function newDraft({ runWindow, ...job }: Fields, timeZone: string): Draft {
  const hours = isRecord(runWindow) ? runWindow : {};
  return {
    name: "",
    cron: "30 2 * * *",
    timeZone: textOf(hours["timeZone"]) || timeZone,
    start: textOf(hours["from"]),
    end: textOf(hours["to"]),
    missed: "run_once",
    ...jobDraft(job),
  };
}

/** Returns the draft of an existing schedule. */
export const draftOf = ({ name, cron, timeZone, window, missed, job }: Schedule): Draft => ({
  name,
  cron,
  timeZone,
  start: window?.start ?? "",
  end: window?.end ?? "",
  missed,
  ...jobDraft(job),
});

function jobDraft(job: Fields) {
  const {
    type,
    layer,
    layers,
    gridSet,
    gridSets,
    format,
    formats,
    zoomStart,
    zoomStop,
    bounds,
    parameters,
    ...others
  } = job;
  const more: [string, unknown][] = [];
  // A list of grid sets has no control in the form.
  if (Array.isArray(gridSets)) more.push(["gridSets", gridSets]);
  if (Array.isArray(formats)) more.push(["formats", formats]);
  for (const [field, value] of Object.entries(others))
    if (value !== null && value !== undefined && !LARGE.includes(field) && field !== "confirm")
      more.push([field, value]);
  return {
    type: textOf(type) || "seed",
    layer: textOf(layer) || (Array.isArray(layers) ? layers.join(", ") : textOf(layers)),
    gridSet: gridSets === "*" ? "*" : textOf(gridSet),
    format: formats === "*" ? "*" : textOf(format),
    zoomStart: textOf(zoomStart),
    zoomStop: textOf(zoomStop),
    bounds: Array.isArray(bounds) ? bounds.join(", ") : "",
    parameters: isRecord(parameters)
      ? Object.fromEntries(Object.entries(parameters).map(([key, value]) => [key, textOf(value)]))
      : {},
    more: more.length === 0 ? "" : jsonText(Object.fromEntries(more), 2),
    kept: Object.fromEntries(LARGE.flatMap((field) => (job[field] == null ? [] : [[field, job[field]] as const]))),
  };
}

/** Returns the job of a draft in the form of a request. Undefined if the further fields are not a JSON object. */
export function jobFieldsOf(draft: Draft): Fields | undefined {
  const { type, layer, gridSet, format, zoomStart, zoomStop, bounds, parameters, kept } = draft;
  const more = draft.more.trim() === "" ? {} : parseJsonObject(draft.more);
  if (more === undefined) return undefined;
  const isMany = /[*,]/.test(layer);
  return {
    ...(isMany ? { layers: layer.split(",").map((one) => one.trim()) } : { layer: layer.trim() }),
    type,
    ...(gridSet === "*" ? { gridSets: "*" } : gridSet === "" ? {} : { gridSet }),
    ...(format === "*" ? { formats: "*" } : format === "" ? {} : { format }),
    ...(Object.keys(parameters).length === 0 ? {} : { parameters }),
    ...(zoomStart === "" ? {} : { zoomStart: asNumber(zoomStart) }),
    ...(zoomStop === "" ? {} : { zoomStop: asNumber(zoomStop) }),
    ...(bounds.trim() === "" ? {} : { bounds: numbersOf(bounds) }),
    ...kept,
    ...more,
  };
}

export const windowOf = ({ start, end }: Draft) => (start === "" && end === "" ? null : { start, end });

/** Returns the body of the request that stores a draft. */
export const bodyOf = (draft: Draft, job: Fields): Fields => ({
  name: draft.name.trim(),
  cron: draft.cron,
  timeZone: draft.timeZone,
  missed: draft.missed,
  window: windowOf(draft),
  job,
});

/** Returns the equivalent command line. Undefined if the job has fields that need a file or another form. */
export function commandOf(draft: Draft, isNew: boolean): string | undefined {
  const { more, kept, zoomStart, zoomStop, gridSet, format, bounds, start, end } = draft;
  if (more.trim() !== "" || Object.keys(kept).length > 0) return undefined;
  return nuthatchCommand(
    "schedule",
    "add",
    draft.name,
    ...draft.layer.split(",").map((one) => one.trim()),
    ...optionWords({
      cron: draft.cron,
      "time-zone": draft.timeZone,
      type: draft.type,
      window: start === "" ? "" : `${start}-${end}`,
      missed: draft.missed === "skip" ? "skip" : "",
    }),
    ...(gridSet === "*" ? ["--all-grid-sets"] : optionWords({ "grid-set": gridSet })),
    ...(format === "*" ? ["--all-formats"] : optionWords({ format })),
    ...optionWords({
      zoom: zoomStop === "" ? "" : `${zoomStart === "" ? 0 : zoomStart}-${zoomStop}`,
      bounds: bounds.replaceAll(" ", ""),
    }),
    ...parameterWords(draft.parameters),
    ...(isNew ? [] : ["--replace"]),
  );
}

const textOf = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" ? String(value) : "";

const numbersOf = (text: string): unknown =>
  text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map(asNumber);

function parseJsonObject(text: string): Fields | undefined {
  const value = asJson(text);
  return isRecord(value) ? value : undefined;
}
