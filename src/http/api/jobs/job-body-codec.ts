import { createHash } from "node:crypto";
import { badField, type Refusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import type { BatchRequest } from "../../../plan/plan-batch.ts";
import { type Given, isObject, note, parseObject } from "../json-fields.ts";
import { decodeJobDocument, PLURALS, type RequestedJob } from "./job-request-codec.ts";
import { chosenSetIn, wrongChoiceIn } from "./value-choice-codec.ts";

/** One request for the jobs of several layers, grid sets, formats or parameters. */
export interface RequestedJobs {
  readonly many: BatchRequest;
  /** A hash of the whole request. */
  readonly digest: string;
  /** True: the client has confirmed the size of the jobs (`confirm`). */
  readonly confirmed: boolean;
}

/** The limit of one list of a request. Planning limits the number of jobs that the lists together make. */
const MOST_ENTRIES = 1000;

/** Decodes the body of a POST to `/api/v1/jobs` or `/api/v1/estimate`: strict JSON. */
export function decodeJobBody(body: Uint8Array): Result<RequestedJob | RequestedJobs, Refusal> {
  const document = parseObject(body, "job");
  return document.ok ? decodeJobs(document.value) : document;
}

/** Decodes a document that requests one job or several. */
export function decodeJobs(document: object): Result<RequestedJob | RequestedJobs, Refusal> {
  const fields = new Map<string, unknown>(Object.entries(document).filter(([, value]) => value !== null));
  const isMany = Object.keys(PLURALS).some((plural) => fields.has(plural));
  return isMany ? decodeBatch({ fields, problems: [] }) : decodeJobDocument(document);
}

function decodeBatch(given: Given): Result<RequestedJobs, Refusal> {
  const { fields, problems } = given;
  const common = new Map(fields);
  for (const [plural, singulars] of Object.entries(PLURALS)) {
    common.delete(plural);
    for (const singular of singulars)
      if (fields.has(plural) && fields.has(singular)) note(given, singular, `nothing beside ${plural}`);
  }
  const patterns = fields.has("layers") ? layersOf(given) : undefined;
  const gridSets = namesOf(given, "gridSets", 'names of grid sets, or "*"');
  const formats = namesOf(given, "formats", 'MIME types, or "*"');
  const parameterSets = setsOf(given);
  const [problem] = problems;
  if (problem !== undefined) return refuse(problem);
  // The fields that all jobs of the request have in common.
  const one = decodeJobDocument(Object.fromEntries(patterns === undefined ? common : common.set("layer", "*")));
  if (!one.ok) return one;
  const { layer, request, digest, confirmed } = one.value;
  const sets = typeof parameterSets === "object" ? parameterSets.map((set) => [...set].sort()) : parameterSets;
  const many: BatchRequest = {
    request,
    layers: patterns ?? [layer],
    layersAre: patterns === undefined ? "names" : "patterns",
    ...(gridSets === undefined ? {} : { gridSets }),
    ...(formats === undefined ? {} : { formats }),
    ...(parameterSets === undefined ? {} : { parameterSets }),
  };
  const asked = JSON.stringify([digest, many.layersAre, many.layers, gridSets, formats, sets]);
  return ok({ many, confirmed, digest: createHash("sha256").update(asked).digest("hex") });
}

const isText = (value: unknown): value is string => typeof value === "string" && value.trim() !== "";

/**
 * Reads a list of 1 to 1000 entries, each by `read`; undefined if the value is no such list or `read` refuses an entry.
 */
function listOf<T>(value: unknown, read: (entry: unknown) => T | undefined): readonly T[] | undefined {
  const entries: readonly unknown[] = Array.isArray(value) ? value : [];
  const list = entries.slice(0, MOST_ENTRIES).flatMap((entry) => read(entry) ?? []);
  return list.length > 0 && list.length === entries.length ? list : undefined;
}

const textOf = (value: unknown): string | undefined => (isText(value) ? value : undefined);

/** Reads `layers`. A single text such as "ws:*" means the same as ["ws:*"]. */
function layersOf(given: Given): readonly string[] | undefined {
  const value = given.fields.get("layers");
  const expected = `1 to ${MOST_ENTRIES} names of layers, in which * stands for any characters`;
  return listOf(isText(value) ? [value] : value, textOf) ?? note(given, "layers", expected);
}

function namesOf(given: Given, field: "gridSets" | "formats", what: string): readonly string[] | "*" | undefined {
  const value = given.fields.get(field);
  if (value === undefined || value === "*") return value;
  return listOf(value, textOf) ?? note(given, field, `1 to ${MOST_ENTRIES} ${what}`);
}

function setsOf({ fields, problems }: Given): BatchRequest["parameterSets"] {
  const value = fields.get("parameterSets");
  if (value === undefined || value === "*") return value;
  const read = listOf(value, chosenSetIn);
  if (read !== undefined) return read;
  const sets: readonly unknown[] = Array.isArray(value) ? value : [];
  const [wrong] = sets.filter(isObject).flatMap((set) => wrongChoiceIn(set) ?? []);
  const expected = `1 to ${MOST_ENTRIES} objects of texts, such as [{"STYLES":"night"},{}], or "*"`;
  problems.push(
    wrong === undefined
      ? badField("parameterSets", expected, value)
      : badField(`parameterSets.${wrong.key}`, wrong.expected, wrong.given),
  );
  return undefined;
}
