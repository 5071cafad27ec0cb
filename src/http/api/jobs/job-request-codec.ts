import { createHash } from "node:crypto";
import type { Extent } from "../../../grid/grid-set.ts";
import { badField, type Refusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { JOB_TYPES, type RequestedArea, type RequestedTile, type SeedRequest } from "../../../plan/seed-request.ts";
import { fieldsOf, type Given, note, parametersOf, textOf, wordOf } from "../json-fields.ts";
import { areaOfBounds, decodeArea, decodeTiles } from "./area-fields.ts";
import {
  CHOICE_FIELDS,
  confirmOf,
  maxFailurePercentOf,
  olderThanOf,
  onlyExistingOf,
  orderOf,
} from "./choice-fields.ts";
import { supersedeOf, TERM_FIELDS, termsOf } from "./job-terms-codec.ts";

/** A job requested under `/api/v1`: well-formed, but not yet validated against its layer. */
export interface RequestedJob {
  readonly layer: string;
  readonly request: SeedRequest;
  /** A hash of the request's values. It does not depend on the order of the fields or on white space. */
  readonly digest: string;
  /** True: the client has confirmed the size of the job (`confirm`). */
  readonly confirmed: boolean;
}

/** The fields by which one request makes several jobs, each with the fields of a single job that it replaces. */
export const PLURALS = {
  layers: ["layer"],
  gridSets: ["gridSet", "srs"],
  formats: ["format"],
  parameterSets: ["parameters"],
} as const;

const FIELDS = [
  ...Object.keys(PLURALS),
  "layer",
  "type",
  "gridSet",
  "srs",
  "format",
  "parameters",
  "bounds",
  "boundsCrs",
  "area",
  "areaCrs",
  "tiles",
  "zoomStart",
  "zoomStop",
  "threadCount",
  "tileFailureRetryCount",
  "tileFailureRetryWaitTime",
  "totalFailuresBeforeAborting",
  ...CHOICE_FIELDS,
  "confirm",
  ...TERM_FIELDS,
  "supersede",
];

/** Decodes a document that requests one job. */
export function decodeJobDocument(document: object): Result<RequestedJob, Refusal> {
  const fields = fieldsOf(document, FIELDS);
  if (!fields.ok) return fields;
  const given = fields.value;
  const layer = given.fields.has("layer") ? textOf(given, "layer") : note(given, "layer", "the name of a layer");
  const request = requestOf(given);
  const confirmed = confirmOf(given);
  const [problem] = given.problems;
  if (problem !== undefined || layer === undefined)
    return refuse(problem ?? badField("layer", "the name of a layer", null));
  const digest = createHash("sha256")
    .update(JSON.stringify([layer, { ...request, parameters: [...request.parameters].sort() }]))
    .digest("hex");
  return ok({ layer, request, digest, confirmed });
}

/** Reads the request. Absent fields stay absent: a later check can tell a given value from a default. */
function requestOf(given: Given): SeedRequest {
  const gridSetId = textOf(given, "gridSet");
  const srs = wholeOf(given, "srs", "an EPSG code, a whole number", 0);
  const place = placeOf(given);
  const tiles = tilesOf(given);
  const zoomStart = wholeOf(given, "zoomStart", "a whole number");
  const zoomStop = wholeOf(given, "zoomStop", "a whole number");
  const format = textOf(given, "format");
  const threadCount = wholeOf(given, "threadCount", "a whole number");
  const tileFailureRetryCount = countOf(given, "tileFailureRetryCount");
  const tileFailureRetryWaitMs = countOf(given, "tileFailureRetryWaitTime");
  const totalFailuresBeforeAborting = failuresOf(given);
  const maxFailurePercent = maxFailurePercentOf(given);
  const type = wordOf(given, "type", JOB_TYPES, "seed");
  const onlyExisting = onlyExistingOf(given, type);
  const olderThan = olderThanOf(given, type);
  const order = orderOf(given, type);
  const terms = termsOf(given, type);
  return {
    type: type ?? "seed",
    ...(gridSetId === undefined ? {} : { gridSetId }),
    ...(srs === undefined || srs === 0 ? {} : { srs }),
    ...place,
    ...(tiles === undefined ? {} : { tiles }),
    ...(zoomStart === undefined ? {} : { zoomStart }),
    ...(zoomStop === undefined ? {} : { zoomStop }),
    ...(format === undefined ? {} : { format }),
    ...(threadCount === undefined ? {} : { threadCount }),
    parameters: parametersOf(given.fields.get("parameters") ?? {}, anyText) ?? noteParameters(given),
    ...(tileFailureRetryCount === undefined ? {} : { tileFailureRetryCount }),
    ...(tileFailureRetryWaitMs === undefined ? {} : { tileFailureRetryWaitMs }),
    ...(totalFailuresBeforeAborting === undefined ? {} : { totalFailuresBeforeAborting }),
    ...(maxFailurePercent === undefined ? {} : { maxFailurePercent }),
    ...(onlyExisting === undefined ? {} : { onlyExisting }),
    ...(olderThan === undefined ? {} : { olderThan }),
    ...(order === undefined ? {} : { order }),
    ...(terms === undefined ? {} : { terms }),
    ...(supersedeOf(given, type) ? { supersede: true } : {}),
  };
}

function wholeOf(given: Given, name: string, expected: string, least = Number.MIN_SAFE_INTEGER): number | undefined {
  const value = given.fields.get(name);
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return value;
  return note(given, name, expected);
}

/** Reads a count. -1 stands for the default, as in a classic seed request. */
function countOf(given: Given, name: string): number | undefined {
  const count = wholeOf(given, name, "a whole number, 0 or more (-1: the default)", -1);
  return count === -1 ? undefined : count;
}

/**
 * Reads the limit of failures. `maxFailures` is another name for `totalFailuresBeforeAborting` of GeoWebCache's seed
 * request.
 */
function failuresOf(given: Given): number | undefined {
  if (!given.fields.has("maxFailures")) return countOf(given, "totalFailuresBeforeAborting");
  exclude(given, "maxFailures", ["totalFailuresBeforeAborting"]);
  return countOf(given, "maxFailures");
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

/** Notes a problem if one of `others` is given beside `name`. */
function exclude(given: Given, name: string, others: readonly string[]): void {
  const other = others.find((field) => given.fields.has(field));
  if (other !== undefined) note(given, other, `nothing beside ${name}`);
}

/**
 * Reads `bounds` or `area`. Bounds without `boundsCrs` are in units of the grid set; bounds with `boundsCrs` become an
 * area.
 */
function placeOf(given: Given): Pick<SeedRequest, "bounds" | "area"> {
  const bounds = boundsOf(given);
  const area = areaOf(given);
  if (area !== undefined) return { area };
  const crs = given.fields.get("boundsCrs");
  if (crs === undefined) return bounds === undefined ? {} : { bounds };
  if (bounds === undefined)
    return given.fields.has("bounds") ? {} : (note(given, "boundsCrs", "bounds beside it") ?? {});
  const around = decodedOf(given, areaOfBounds(bounds, crs));
  return around === undefined ? {} : { area: around };
}

function areaOf(given: Given): RequestedArea | undefined {
  const { fields } = given;
  if (!fields.has("area")) return fields.has("areaCrs") ? note(given, "areaCrs", "an area beside it") : undefined;
  exclude(given, "area", ["bounds", "tiles"]);
  return decodedOf(given, decodeArea(fields.get("area"), fields.get("areaCrs")));
}

function tilesOf(given: Given): readonly RequestedTile[] | undefined {
  if (!given.fields.has("tiles")) return undefined;
  exclude(given, "tiles", ["bounds", "zoomStart", "zoomStop"]);
  return decodedOf(given, decodeTiles(given.fields.get("tiles")));
}

function decodedOf<T>({ problems }: Given, decoded: Result<T, Refusal>): T | undefined {
  if (decoded.ok) return decoded.value;
  problems.push(decoded.error);
  return undefined;
}

const anyText = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

function noteParameters(given: Given): ReadonlyMap<string, string> {
  note(given, "parameters", 'an object of texts, such as {"STYLES":"night"}');
  return new Map();
}
