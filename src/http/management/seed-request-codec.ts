import { readDocument, sniffFormat } from "../../body/document.ts";
import { type Field, isEmpty, scalarOf } from "../../body/field.ts";
import { Fields, Problems, parseDecimal, parseInteger } from "../../body/fields.ts";
import type { Extent } from "../../grid/grid-set.ts";
import { defined } from "../../lib/defined.ts";
import { badField, type Refusal } from "../../lib/refusal.ts";
import type { Result } from "../../lib/result.ts";
import type { JobType, SeedRequest } from "../../plan/seed-request.ts";
import { readBounds, readParameters, uniqueParameters } from "./bounds-and-parameters.ts";

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
  "enumType",
  "threadCount",
  "parameters",
  "filterUpdate",
  "tileFailureRetryCount",
  "tileFailureRetryWaitTime",
  "totalFailuresBeforeAborting",
];

/**
 * Decodes the body of a seed request (`docs/reference/wire-format.md`, Seed request). A body that begins with `{` is
 * JSON, any other is XML.
 */
export function decodeSeedRequest(body: Uint8Array): Result<SeedRequest, Refusal> {
  const root = readDocument(body, sniffFormat(body) ?? "xml", "a seedRequest document", ["seedRequest"]);
  if (!root.ok) return root;
  const fields = new Fields(root.value, "", FIELDS, new Problems());
  // Their values are ignored, but a repeated field is refused.
  for (const ignored of ["name", "filterUpdate"]) fields.one(ignored);
  return fields.problems.result(readRequest(fields));
}

/** Reads the fields of documents and forms, and the fields of documents only. */
const readRequest = (fields: Fields): SeedRequest => ({
  type: readType(fields),
  ...defined({
    gridSet: fields.text("gridSetId"),
    srs: readSrs(fields),
    bounds: readBounds(fields),
    zoomStart: fields.integer("zoomStart"),
    zoomStop: readWhole(fields, "zoomStop"),
    format: fields.text("format"),
    threadCount: readWhole(fields, "threadCount"),
  }),
  parameters: readParameters(fields),
  ...defined({
    retryCount: readCount(fields, "tileFailureRetryCount"),
    retryWaitMs: readCount(fields, "tileFailureRetryWaitTime"),
    maxFailures: readCount(fields, "totalFailuresBeforeAborting"),
  }),
});

/**
 * Reads `type`, or `enumType`, which GWC accepts too: if it were ignored, a truncation would become a seed. Reports a
 * problem if the two differ.
 */
function readType(fields: Fields): JobType {
  const [type, enumType] = ["type", "enumType"].map((name) =>
    fields.read(name, TYPE_NAMES, (text) => TYPES.get(text.trim().toLowerCase())),
  );
  if (type !== undefined && enumType !== undefined && type !== enumType)
    fields.problems.note(badField("enumType", `the same as type (${type}), or one of the two alone`, enumType));
  return type ?? enumType ?? "seed";
}

/**
 * Reads `<srs><number>N</number></srs>`, `<srs>N</srs>` or `<srs>EPSG:N</srs>`. 0 and an empty `srs` count as absent.
 */
function readSrs(fields: Fields): number | undefined {
  const srs = fields.one("srs");
  if (srs === undefined || (srs.kind === "element" && isEmpty(srs))) return undefined;
  const holder = scalarOf(srs) === undefined ? new Fields(srs, "srs.", ["number"], fields.problems) : fields;
  const code = holder.read(holder === fields ? "srs" : "number", "an EPSG code, a whole number", (text) => {
    const number = parseInteger(text.trim().replace(/^EPSG:\s*/i, ""));
    return number !== undefined && number >= 0 && Number.isSafeInteger(number) ? number : undefined;
  });
  return code === 0 ? undefined : code;
}

/**
 * Reads a whole number of any size. A number beyond the safe integers becomes the nearest safe integer, because every
 * caller limits the value later.
 */
const readWhole = (fields: Fields, name: string): number | undefined => fields.read(name, "a whole number", parseWhole);

function parseWhole(text: string): number | undefined {
  const number = parseInteger(text);
  return number && Math.min(Number.MAX_SAFE_INTEGER, Math.max(Number.MIN_SAFE_INTEGER, number));
}

/** Reads a count. -1 means the default, as in GWC. */
function readCount(fields: Fields, name: string): number | undefined {
  const count = fields.read(name, "a whole number, 0 or more (-1: the default)", (text) => {
    const number = parseWhole(text);
    return number !== undefined && number >= -1 ? number : undefined;
  });
  return count === -1 ? undefined : count;
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

/** Fields that must not be empty: a program that failed to fill in such a field would seed more than intended. */
const NEVER_EMPTY = ["type", "zoomStart", "zoomStop"];

/**
 * Decodes GWC's HTML form, sent to `/rest/seed/<layer>` (`docs/reference/wire-format.md`, Task list). Empty fields
 * count as absent, because browsers send them, except those in `NEVER_EMPTY`.
 */
export function decodeSeedForm(form: URLSearchParams): Result<SeedRequest, Refusal> {
  const problems = new Problems();
  const children = formChildren(form, problems);
  const fields = new Fields({ ...NO_FIELD, children }, "", FORM_FIELDS, problems);
  const request = readRequest(fields);
  const [tileFormat, format] = [fields.text("tileFormat"), fields.text("format")];
  if (tileFormat !== undefined && format !== undefined && tileFormat !== format)
    problems.note(badField("format", `the same as tileFormat (${tileFormat}), or one of the two alone`, format));
  const parameters = [...form].flatMap(([name, value]) => {
    const key = /^parameter_(.+)$/s.exec(name)?.[1]?.trim();
    return key === undefined || key === "" ? [] : [{ key, value, field: NO_FIELD }];
  });
  return problems.result({
    ...request,
    ...defined({ bounds: formBounds(fields), format: tileFormat ?? format }),
    parameters: uniqueParameters(parameters, "parameter_", problems),
  });
}

/** The field of a whole form, which has no position. */
const NO_FIELD: Field = { name: "form", kind: "element", children: [], text: "", line: 0, column: 0 };

/** Returns the fields of a form in the form of a document's fields. Reports a repeated field with different values. */
function formChildren(form: URLSearchParams, problems: Problems): readonly Field[] {
  const known = new Set(FORM_FIELDS.map((name) => name.toLowerCase()));
  const names = [...new Set(form.keys())].filter((name) => known.has(name.toLowerCase()));
  return names.flatMap((name) => {
    const [value = "", ...others] = new Set(form.getAll(name));
    if (others.length > 0) problems.at(NO_FIELD, `${name}: given more than once, with different values`);
    const text = value.trim();
    return text === "" && !NEVER_EMPTY.includes(name) ? [] : [{ ...NO_FIELD, name, text }];
  });
}

function formBounds(fields: Fields): Extent | undefined {
  const names = ["minX", "minY", "maxX", "maxY"];
  if (names.every((name) => fields.one(name) === undefined)) return undefined;
  const [minX, minY, maxX, maxY] = names.map((name) =>
    fields.one(name) === undefined
      ? fields.problems.note(badField(name, "a number, as other bounds are given (minX, minY, maxX, maxY)", ""))
      : fields.read(name, "a finite decimal number", parseDecimal),
  );
  if (minX === undefined || minY === undefined || maxX === undefined || maxY === undefined) return undefined;
  return { minX, minY, maxX, maxY };
}

/**
 * Returns whether a POST to `/rest/seed/<layer>` without extension is a seed request: its Content-Type is XML or JSON,
 * and its body begins like XML or JSON. The Content-Type alone does not suffice: GWC's own tests send `kill_all=all` as
 * text/xml.
 */
export function looksLikeSeedRequest(contentType: string | undefined, body: Uint8Array): boolean {
  const type = contentType?.split(";")[0]?.trim() ?? "";
  return /^(?:text|application)\/(?:.+\+)?(?:xml|json)$/i.test(type) && sniffFormat(body) !== undefined;
}
