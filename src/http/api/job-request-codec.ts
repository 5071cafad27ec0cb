import { createHash } from "node:crypto";
import type { Extent } from "../../grid/grid-set.ts";
import { type AskedArea, type AskedTile, JOB_TYPES, type JobType, type SeedRequest } from "../../jobs/seed-request.ts";
import { badField, type Refusal, shown } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { decodeArea, decodeTiles } from "./area-fields.ts";

/** A job asked for under `/api/v1`: well-formed, but not yet held against its layer. */
export interface AskedJob {
  readonly layer: string;
  readonly request: SeedRequest;
  /** Of what was asked, whatever the order and the spacing of the fields. */
  readonly digest: string;
}

const FIELDS = [
  "layer",
  "type",
  "gridSet",
  "srs",
  "format",
  "parameters",
  "bounds",
  "area",
  "areaCrs",
  "tiles",
  "zoomStart",
  "zoomStop",
  "threadCount",
  "tileFailureRetryCount",
  "tileFailureRetryWaitTime",
  "totalFailuresBeforeAborting",
];

/** The fields that were given, and where a reader writes down what is wrong: its answer then counts for nothing. */
interface Given {
  readonly fields: ReadonlyMap<string, unknown>;
  readonly problems: Refusal[];
}

function note({ fields, problems }: Given, name: string, expected: string): undefined {
  problems.push(badField(name, expected, fields.get(name) ?? null));
  return undefined;
}

/** The body of a POST to `/api/v1/jobs`: strict JSON. Unknown fields are refused: ignoring `zoomstop` would seed everything. */
export function decodeJobRequest(body: Uint8Array): Result<AskedJob, Refusal> {
  const document = parseObject(body);
  if (!document.ok) return document;
  const fields = new Map(Object.entries(document.value).filter(([, value]) => value !== null));
  for (const name of fields.keys()) {
    if (FIELDS.includes(name)) continue;
    const meant = FIELDS.find((known) => known.toLowerCase() === name.toLowerCase());
    return refuse({
      code: "bad_field",
      message: `${name.slice(0, 200)}: unknown field, expected ${meant ?? `one of ${FIELDS.join(", ")}`}, got ${shown(fields.get(name))}`,
    });
  }
  const given: Given = { fields, problems: [] };
  const layer = fields.has("layer") ? textOf(given, "layer") : note(given, "layer", "the name of a layer");
  const request = requestOf(given);
  const [problem] = given.problems;
  if (problem !== undefined || layer === undefined)
    return refuse(problem ?? badField("layer", "the name of a layer", null));
  const digest = createHash("sha256")
    .update(JSON.stringify([layer, { ...request, parameters: [...request.parameters].sort() }]))
    .digest("hex");
  return ok({ layer, request, digest });
}

function parseObject(body: Uint8Array): Result<object, Refusal> {
  const malformed = (why: string): Result<object, Refusal> =>
    refuse({ code: "malformed", message: `body: expected a JSON object with the fields of a job, ${why}` });
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return ok(value);
    return malformed(`got ${shown(value)}`);
  } catch (error) {
    return malformed(error instanceof Error ? error.message : String(error));
  }
}

/** Absent fields are left out: what is there was given. */
function requestOf(given: Given): SeedRequest {
  const gridSetId = textOf(given, "gridSet");
  const srs = wholeOf(given, "srs", "an EPSG code, a whole number", 0);
  const bounds = boundsOf(given);
  const area = areaOf(given);
  const tiles = tilesOf(given);
  const zoomStart = wholeOf(given, "zoomStart", "a whole number");
  const zoomStop = wholeOf(given, "zoomStop", "a whole number");
  const format = textOf(given, "format");
  const threadCount = wholeOf(given, "threadCount", "a whole number");
  const tileFailureRetryCount = countOf(given, "tileFailureRetryCount");
  const tileFailureRetryWaitMs = countOf(given, "tileFailureRetryWaitTime");
  const totalFailuresBeforeAborting = countOf(given, "totalFailuresBeforeAborting");
  return {
    type: typeOf(given) ?? "seed",
    ...(gridSetId === undefined ? {} : { gridSetId }),
    ...(srs === undefined || srs === 0 ? {} : { srs }),
    ...(bounds === undefined ? {} : { bounds }),
    ...(area === undefined ? {} : { area }),
    ...(tiles === undefined ? {} : { tiles }),
    ...(zoomStart === undefined ? {} : { zoomStart }),
    ...(zoomStop === undefined ? {} : { zoomStop }),
    ...(format === undefined ? {} : { format }),
    ...(threadCount === undefined ? {} : { threadCount }),
    parameters: parametersOf(given),
    ...(tileFailureRetryCount === undefined ? {} : { tileFailureRetryCount }),
    ...(tileFailureRetryWaitMs === undefined ? {} : { tileFailureRetryWaitMs }),
    ...(totalFailuresBeforeAborting === undefined ? {} : { totalFailuresBeforeAborting }),
  };
}

function textOf(given: Given, name: string): string | undefined {
  const value = given.fields.get(name);
  if (value === undefined) return undefined;
  if (typeof value === "string" && value.trim() !== "") return value;
  return note(given, name, "text");
}

function typeOf(given: Given): JobType | undefined {
  const value = given.fields.get("type") ?? "seed";
  const type = JOB_TYPES.find((known) => known === value);
  return type ?? note(given, "type", `one of ${JOB_TYPES.join(", ")}`);
}

function wholeOf(given: Given, name: string, expected: string, least = Number.MIN_SAFE_INTEGER): number | undefined {
  const value = given.fields.get(name);
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return value;
  return note(given, name, expected);
}

/** -1 is the default, as in a seed request. */
function countOf(given: Given, name: string): number | undefined {
  const count = wholeOf(given, name, "a whole number, 0 or more (-1: the default)", -1);
  return count === -1 ? undefined : count;
}

function boundsOf(given: Given): Extent | undefined {
  const value = given.fields.get("bounds");
  if (value === undefined) return undefined;
  const numbers: unknown[] = Array.isArray(value) ? value : [];
  const [minX, minY, maxX, maxY] = numbers.map((n) => (typeof n === "number" && Number.isFinite(n) ? n : undefined));
  if (numbers.length !== 4 || minX === undefined || minY === undefined || maxX === undefined || maxY === undefined)
    return note(given, "bounds", "four numbers, [minx, miny, maxx, maxy]");
  return { minX, minY, maxX, maxY };
}

/** Which tiles is said in one way only. */
function exclude(given: Given, name: string, others: readonly string[]): void {
  const other = others.find((field) => given.fields.has(field));
  if (other !== undefined) note(given, other, `nothing beside ${name}`);
}

function areaOf(given: Given): AskedArea | undefined {
  const { fields } = given;
  if (!fields.has("area")) return fields.has("areaCrs") ? note(given, "areaCrs", "an area beside it") : undefined;
  exclude(given, "area", ["bounds", "tiles"]);
  return decodedOf(given, decodeArea(fields.get("area"), fields.get("areaCrs")));
}

function tilesOf(given: Given): readonly AskedTile[] | undefined {
  if (!given.fields.has("tiles")) return undefined;
  exclude(given, "tiles", ["bounds", "zoomStart", "zoomStop"]);
  return decodedOf(given, decodeTiles(given.fields.get("tiles")));
}

function decodedOf<T>({ problems }: Given, decoded: Result<T, Refusal>): T | undefined {
  if (decoded.ok) return decoded.value;
  problems.push(decoded.error);
  return undefined;
}

function parametersOf(given: Given): ReadonlyMap<string, string> {
  const value = given.fields.get("parameters") ?? {};
  const parameters = new Map<string, string>();
  const upper = new Set<string>();
  const entries = typeof value === "object" && !Array.isArray(value) ? Object.entries(value) : undefined;
  for (const [key, text] of entries ?? []) {
    // Keys are the same in any case: two that differ by it alone contradict each other.
    if (typeof text === "string") parameters.set(key, text);
    upper.add(key.toUpperCase());
  }
  if (entries === undefined || parameters.size !== entries.length || upper.size !== entries.length)
    note(given, "parameters", 'an object of texts, such as {"STYLES":"night"}');
  return parameters;
}
