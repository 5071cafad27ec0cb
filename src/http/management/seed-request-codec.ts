import type { Extent } from "../../grid/grid-set.ts";
import { asciiJson, escapeXml } from "../../lib/escape.ts";
import { badField, type Refusal } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import type { DecodedFields } from "../../plan/job-fields.ts";
import type { JobType, SeedRequest } from "../../plan/seed-request.ts";
import { readBounds, readParameters } from "./internal/bounds-and-parameters.ts";
import { type DocumentFormat, readDocument, sniffFormat } from "./internal/document.ts";
import { isEmpty, scalarOf } from "./internal/field.ts";
import {
  badFieldAt,
  type Fields,
  fieldsOf,
  note,
  type Problems,
  parseDecimal,
  parseInteger,
  startProblems,
} from "./internal/fields.ts";

const TYPES: ReadonlyMap<string, JobType> = new Map([
  ["seed", "seed"],
  ["reseed", "reseed"],
  ["truncate", "truncate"],
]);
const TYPE_NAMES = "seed, reseed or truncate";

/**
 * The known fields. `name` and `filterUpdate` are accepted but ignored (`docs/reference/wire-format.md`, Seed request).
 */
const FIELDS = [
  "name",
  "srs",
  "gridSetId",
  "bounds",
  "zoomStart",
  "zoomStop",
  "format",
  "type",
  "threadCount",
  "parameters",
  "filterUpdate",
  "tileFailureRetryCount",
  "tileFailureRetryWaitTime",
  "totalFailuresBeforeAborting",
];

/** Every field of a classic seed request; a field that was not given is undefined. */
type Parts = { readonly [K in Exclude<keyof SeedRequest, NewFields>]-?: SeedRequest[K] | undefined };
/** Fields that exist only under `/api/v1`. */
type NewFields = "area" | "tiles" | keyof DecodedFields | "terms" | "supersede";

/**
 * Decodes the body of a seed request (`docs/reference/wire-format.md`, Seed request). A body that begins with `{` is
 * JSON, any other is XML.
 */
export function decodeSeedRequest(body: Uint8Array): Result<SeedRequest, Refusal> {
  const root = readDocument(body, sniffFormat(body) ?? "xml", "a seedRequest document", ["seedRequest"]);
  if (!root.ok) return root;
  const problems = startProblems();
  const fields = fieldsOf(root.value, "", FIELDS, problems);
  // The values are ignored, but a field given twice is refused.
  for (const ignored of ["name", "filterUpdate"]) fields.one(ignored);
  const parts: Parts = {
    type: readType(fields, problems),
    gridSetId: fields.text("gridSetId"),
    srs: readSrs(fields, problems),
    bounds: readBounds(fields, problems),
    zoomStart: fields.integer("zoomStart"),
    zoomStop: readWhole(fields, "zoomStop", problems),
    format: fields.text("format"),
    threadCount: readWhole(fields, "threadCount", problems),
    parameters: readParameters(fields, problems),
    tileFailureRetryCount: readCount(fields, "tileFailureRetryCount", problems),
    tileFailureRetryWaitMs: readCount(fields, "tileFailureRetryWaitTime", problems),
    totalFailuresBeforeAborting: readCount(fields, "totalFailuresBeforeAborting", problems),
  };
  return problems.first === undefined ? ok(assemble(parts)) : refuse(problems.first);
}

function assemble(p: Parts): SeedRequest {
  return {
    type: p.type ?? "seed",
    ...(p.gridSetId === undefined ? {} : { gridSetId: p.gridSetId }),
    ...(p.srs === undefined ? {} : { srs: p.srs }),
    ...(p.bounds === undefined ? {} : { bounds: p.bounds }),
    ...(p.zoomStart === undefined ? {} : { zoomStart: p.zoomStart }),
    ...(p.zoomStop === undefined ? {} : { zoomStop: p.zoomStop }),
    ...(p.format === undefined ? {} : { format: p.format }),
    ...(p.threadCount === undefined ? {} : { threadCount: p.threadCount }),
    parameters: p.parameters ?? new Map(),
    ...(p.tileFailureRetryCount === undefined ? {} : { tileFailureRetryCount: p.tileFailureRetryCount }),
    ...(p.tileFailureRetryWaitMs === undefined ? {} : { tileFailureRetryWaitMs: p.tileFailureRetryWaitMs }),
    ...(p.totalFailuresBeforeAborting === undefined
      ? {}
      : { totalFailuresBeforeAborting: p.totalFailuresBeforeAborting }),
  };
}

/**
 * Reads `type`. Refuses an empty type, as the form does: a script whose variable was empty may have been meant to
 * truncate.
 */
function readType(fields: Fields, problems: Problems): JobType | undefined {
  const given = fields.one("type");
  if (given === undefined) return undefined;
  const text = scalarOf(given)?.trim().toLowerCase() ?? "";
  return TYPES.get(text) ?? note(problems, badFieldAt("type", TYPE_NAMES, given));
}

/**
 * Reads `<srs><number>N</number></srs>`, `<srs>N</srs>` or `<srs>EPSG:N</srs>`. 0 and an empty `srs` count as absent.
 */
function readSrs(fields: Fields, problems: Problems): number | undefined {
  const srs = fields.one("srs");
  if (srs === undefined || (srs.kind === "element" && isEmpty(srs))) return undefined;
  const isText = scalarOf(srs) !== undefined;
  const given = isText ? srs : fieldsOf(srs, "srs.", ["number"], problems).one("number");
  if (given === undefined) return undefined;
  const digits = (scalarOf(given) ?? "").trim().replace(/^EPSG:\s*/i, "");
  const code = parseInteger(digits);
  if (code !== undefined && code >= 0 && Number.isSafeInteger(code)) return code === 0 ? undefined : code;
  return note(problems, badFieldAt(isText ? "srs" : "srs.number", "an EPSG code, a whole number", given));
}

/**
 * Reads a whole number of any size. A number beyond the safe integers becomes the nearest safe integer: every caller's
 * value is capped further on.
 */
function readWhole(fields: Fields, name: string, problems: Problems, what = "a whole number"): number | undefined {
  const given = fields.one(name);
  if (given === undefined) return undefined;
  const number = parseInteger(scalarOf(given) ?? "");
  return number === undefined ? note(problems, badFieldAt(name, what, given)) : saturated(number);
}

const saturated = (number: number): number =>
  Math.min(Number.MAX_SAFE_INTEGER, Math.max(Number.MIN_SAFE_INTEGER, number));

const COUNT = "a whole number, 0 or more (-1: the default)";

function readCount(fields: Fields, name: string, problems: Problems): number | undefined {
  const given = fields.one(name);
  const count = readWhole(fields, name, problems, COUNT);
  if (given === undefined || count === undefined || count === -1) return undefined;
  return count >= 0 ? count : note(problems, badFieldAt(name, COUNT, given));
}

const FORM_FIELDS = [
  "threadCount",
  "type",
  "gridSetId",
  "tileFormat",
  "format",
  "zoomStart",
  "zoomStop",
  "minX",
  "minY",
  "maxX",
  "maxY",
  "tileFailureRetryCount",
  "tileFailureRetryWaitTime",
  "totalFailuresBeforeAborting",
];

/**
 * Returns whether a form is a seed request: it has `type` and at least one of `gridSetId`, `zoomStart` and `zoomStop`
 * (`docs/reference/wire-format.md`, Task list).
 */
export const isSeedForm = (form: URLSearchParams): boolean =>
  form.has("type") && (form.has("gridSetId") || form.has("zoomStart") || form.has("zoomStop"));

/**
 * Decodes GWC's HTML form, sent to `/rest/seed/<layer>` (`docs/reference/wire-format.md`, Task list). Refuses an empty
 * zoom or type, because a program that failed to fill in the field would seed more than it meant to. Other empty fields
 * count as absent: browsers send them so.
 */
export function decodeSeedForm(form: URLSearchParams): Result<SeedRequest, Refusal> {
  const problems = startProblems();
  for (const name of form.keys()) {
    const selected = FORM_FIELDS.find((known) => known.toLowerCase() === name.toLowerCase());
    if (selected !== undefined && selected !== name) {
      note(problems, { code: "bad_field", message: `${name}: unknown field, expected ${selected}` });
    }
  }
  const text = (name: string): string | undefined => formValue(form, name, problems)?.trim();
  const filled = (name: string): string | undefined => text(name) || undefined;
  const integer = (name: string, value: string | undefined): number | undefined => {
    if (value === undefined) return undefined;
    const number = parseInteger(value);
    if (number !== undefined && Number.isSafeInteger(number)) return number;
    return note(problems, badField(name, "a whole number", value));
  };
  const whole = (name: string, value: string | undefined): number | undefined => {
    if (value === undefined) return undefined;
    const number = parseInteger(value);
    return number === undefined ? note(problems, badField(name, "a whole number", value)) : saturated(number);
  };
  const count = (name: string): number | undefined => {
    const number = whole(name, filled(name));
    if (number === undefined || number === -1) return undefined;
    return number >= 0 ? number : note(problems, badField(name, COUNT, filled(name)));
  };
  const typeName = text("type");
  const type = TYPES.get((typeName ?? "").toLowerCase());
  if (type === undefined) note(problems, badField("type", TYPE_NAMES, typeName ?? ""));
  const tileFormat = filled("tileFormat");
  const format = filled("format");
  if (tileFormat !== undefined && format !== undefined && tileFormat !== format) {
    note(problems, badField("format", `the same as tileFormat (${tileFormat}), or one of the two alone`, format));
  }
  const parts: Parts = {
    type,
    gridSetId: filled("gridSetId"),
    srs: undefined,
    bounds: formBounds(filled, problems),
    zoomStart: integer("zoomStart", text("zoomStart")),
    zoomStop: whole("zoomStop", text("zoomStop")),
    format: tileFormat ?? format,
    threadCount: whole("threadCount", filled("threadCount")),
    parameters: formParameters(form, problems),
    tileFailureRetryCount: count("tileFailureRetryCount"),
    tileFailureRetryWaitMs: count("tileFailureRetryWaitTime"),
    totalFailuresBeforeAborting: count("totalFailuresBeforeAborting"),
  };
  return problems.first === undefined ? ok(assemble(parts)) : refuse(problems.first);
}

/** Returns the value of a form field. Notes a problem if the field is given several times with different values. */
function formValue(form: URLSearchParams, name: string, problems: Problems): string | undefined {
  const values = new Set(form.getAll(name));
  if (values.size > 1) {
    note(problems, {
      code: "bad_field",
      message: `${name.slice(0, 200)}: given more than once, with different values`,
    });
  }
  return form.get(name) ?? undefined;
}

function formBounds(filled: (name: string) => string | undefined, problems: Problems): Extent | undefined {
  const names = ["minX", "minY", "maxX", "maxY"] as const;
  const texts = names.map(filled);
  if (texts.every((t) => t === undefined)) return undefined;
  const [minX, minY, maxX, maxY] = names.map((name, n) => {
    const given = texts[n];
    if (given === undefined) {
      return note(problems, badField(name, "a number, as other bounds are given (minX, minY, maxX, maxY)", ""));
    }
    return parseDecimal(given) ?? note(problems, badField(name, "a finite decimal number", given));
  });
  if (minX === undefined || minY === undefined || maxX === undefined || maxY === undefined) return undefined;
  return { minX, minY, maxX, maxY };
}

function formParameters(form: URLSearchParams, problems: Problems): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  const seen = new Map<string, string>();
  for (const [name, value] of form) {
    const key = /^parameter_(.+)$/s.exec(name)?.[1]?.trim();
    if (key === undefined || key === "") continue;
    const before = seen.get(key.toUpperCase());
    if (before === undefined) values.set(key, value);
    else if (before !== value) {
      const message = `parameter_${key.slice(0, 200)}: given more than once, with different values`;
      note(problems, { code: "bad_field", message });
    }
    seen.set(key.toUpperCase(), value);
  }
  return values;
}

/**
 * Returns whether a POST to `/rest/seed/<layer>` without extension is a seed request: its Content-Type is XML or JSON,
 * and its body begins as XML or JSON does. The Content-Type alone is not enough: GWC's own tests send `kill_all=all` as
 * text/xml.
 */
export function looksLikeSeedRequest(contentType: string | undefined, body: Uint8Array): boolean {
  const type = contentType?.split(";")[0]?.trim() ?? "";
  return /^(?:text|application)\/(?:.+\+)?(?:xml|json)$/i.test(type) && sniffFormat(body) !== undefined;
}

/**
 * Encodes a request as clients send one (`docs/reference/wire-format.md`, Seed request). `decodeSeedRequest` returns an
 * equal request.
 */
export function encodeSeedRequest(request: SeedRequest, format: DocumentFormat): string {
  const { bounds, parameters } = request;
  const scalars: readonly (readonly [string, string | number | undefined])[] = [
    ["gridSetId", request.gridSetId],
    ["zoomStart", request.zoomStart],
    ["zoomStop", request.zoomStop],
    ["format", request.format],
    ["type", request.type],
    ["threadCount", request.threadCount],
    ["tileFailureRetryCount", request.tileFailureRetryCount],
    ["tileFailureRetryWaitTime", request.tileFailureRetryWaitMs],
    ["totalFailuresBeforeAborting", request.totalFailuresBeforeAborting],
  ];
  const corners = bounds === undefined ? [] : [bounds.minX, bounds.minY, bounds.maxX, bounds.maxY];
  if (format === "xml") {
    const doubles = corners.map((n) => `<double>${n}</double>`).join("");
    const entries = [...parameters]
      .map(([k, v]) => `<entry><string>${escapeXml(k)}</string><string>${escapeXml(v)}</string></entry>`)
      .join("");
    const fields = [
      request.srs === undefined ? "" : `<srs><number>${request.srs}</number></srs>`,
      doubles === "" ? "" : `<bounds><coords>${doubles}</coords></bounds>`,
      ...scalars.map(([name, v]) => (v === undefined ? "" : `<${name}>${escapeXml(String(v))}</${name}>`)),
      entries === "" ? "" : `<parameters>${entries}</parameters>`,
    ];
    return `<seedRequest>${fields.join("")}</seedRequest>`;
  }
  const entries = [...parameters].map(([k, v]) => `{"string":[${asciiJson(k)},${asciiJson(v)}]}`);
  const fields = [
    request.srs === undefined ? "" : `"srs":{"number":${request.srs}}`,
    corners.length === 0 ? "" : `"bounds":{"coords":{"double":[${corners.map((n) => `"${n}"`).join(",")}]}}`,
    ...scalars.map(([name, v]) =>
      v === undefined ? "" : `"${name}":${typeof v === "number" ? String(v) : asciiJson(v)}`,
    ),
    entries.length === 0 ? "" : `"parameters":{"entry":[${entries.join(",")}]}`,
  ];
  return `{"seedRequest":{${fields.filter((f) => f !== "").join(",")}}}`;
}
