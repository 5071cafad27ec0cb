import { type Content, isMap } from "../../../lib/is-map.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { parseAge } from "../../../plan/tile-age.ts";
import type { ForeignObject } from "../foreign-object.ts";

/** The most times of a range. A layer lists each time in its capabilities. */
const MOST_TIMES = 10_000;

/** Returns the dimensions of a layer as parameter filters. */
export function dimensionFilters(layer: ForeignObject): readonly Content[] {
  const dimensions = layer.look("dimensions");
  if (!isMap(dimensions)) return [];
  layer.differently("dimensions", "each is a parameter filter with its values");
  return Object.keys(dimensions).map((key) => {
    const path = ["dimensions", key, "values"];
    const listed = layer.texts(path) ?? [];
    const values = valuesOf(key, listed);
    if (!values.ok) layer.kept(path, `${values.error}: all requests have the default`);
    const given = values.ok ? values.value : [];
    // MapProxy's default is the last value.
    const standard = layer.text(["dimensions", key, "default"]) ?? given.at(-1) ?? "";
    return { type: "string", key: key.toUpperCase(), default: standard, values: given };
  });
}

/** Returns the values of a dimension. MapProxy reads a single value as a list or a range. */
function valuesOf(key: string, listed: readonly string[]): Result<readonly string[], string> {
  const [only = "", ...others] = listed;
  if (listed.length === 0 || others.length > 0) return ok(listed);
  if (!key.toLowerCase().includes("time")) return ok(only.trim().split("/"));
  return timesOf(only.trim());
}

/** Returns the times of a range with two ends and a step, or with one end and a step. */
function timesOf(range: string): Result<readonly string[], string> {
  const parts = range.split("/");
  const [first] = parts;
  if (parts.length === 1) return ok([first === undefined ? range : (timeOf(first)?.text ?? first)]);
  const step = parts.map(stepOf).find((ms) => ms !== undefined);
  const ends = parts.flatMap((part) => timeOf(part) ?? []);
  const [from, to = from] = ends;
  if (step === undefined || from === undefined || to === undefined || ends.length + 1 !== parts.length)
    return refuse(
      "expected times and a step of weeks, days, hours, minutes or seconds, such as 2026-01-01T00:00:00Z/PT6H",
    );
  const isEnd = ends.length === 1 && stepOf(parts[0] ?? "") !== undefined;
  const begin = isEnd ? from.ms - step : from.ms;
  const end = ends.length === 1 && !isEnd ? from.ms + step : to.ms;
  // As in MapProxy, the last step may pass the end.
  const count = Math.ceil((end + step - begin) / step);
  if (count > MOST_TIMES) return refuse(`a range of ${count} times is too long, expected ${MOST_TIMES} at most`);
  return ok(Array.from({ length: Math.max(0, count) }, (_, i) => timeText(begin + i * step, from.zone)));
}

interface Time {
  /** The time in ms, as if its zone were UTC. */
  readonly ms: number;
  /** The time zone. Empty if the text has none. */
  readonly zone: string;
  readonly text: string;
}

function timeOf(text: string): Time | undefined {
  const [, day, clock, seconds = ":00", zone = ""] =
    /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d)?(Z|[+-]\d\d:\d\d)?$/.exec(text) ?? [];
  const ms = day === undefined ? Number.NaN : Date.parse(`${day}T${clock}${seconds}Z`);
  const kept = zone === "+00:00" ? "Z" : zone;
  return Number.isFinite(ms) ? { ms, zone: kept, text: timeText(ms, kept) } : undefined;
}

const timeText = (ms: number, zone: string): string => new Date(ms).toISOString().slice(0, -".000Z".length) + zone;

/** Returns a step in ms. Undefined if the text is not a step, or has months, which have no fixed length. */
function stepOf(text: string): number | undefined {
  const age = parseAge(text);
  return age?.kind === "age" && age.months === 0 && age.ms > 0 ? age.ms : undefined;
}
