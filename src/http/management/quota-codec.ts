import { asciiJson, escapeXml } from "../../lib/escape.ts";
import { type Refusal, shown, unknownLayer } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { quotaBytes } from "../../quota/quota-bytes.ts";
import type {
  ExpirationPolicy,
  LayerQuota,
  Quota,
  QuotaChange,
  QuotaConfiguration,
} from "../../quota/quota-configuration.ts";
import {
  CLEAN_UP_UNITS,
  checkQuotaSize,
  EXPIRATION_POLICIES,
  parseQuotaValue,
  STORAGE_UNITS,
} from "../../quota/quota-validation.ts";
import { placeOf } from "./internal/body-text.ts";
import { type DocumentFormat, readDocument } from "./internal/document.ts";
import { expanded, type Field, isEmpty, scalarOf } from "./internal/field.ts";
import {
  badFieldAt,
  checkCase,
  type Fields,
  fieldsOf,
  note,
  type Problems,
  parseInteger,
  startProblems,
} from "./internal/fields.ts";

/**
 * The root names of a quota document (`docs/reference/wire-format.md`, Disk quota): the name in the contract, the name
 * in GWC's documentation, and the name that GWC sends.
 */
export type QuotaRoot =
  | "cacheQuotaConfiguration"
  | "gwcQuotaConfiguration"
  | "org.geowebcache.diskquota.DiskQuotaConfig";
/**
 * The form in which a quota is written: the contract's `value` and `units`, or the `bytes` that GWC writes since 1.12.
 */
export type QuotaForm = "value-units" | "bytes";

const ROOTS: readonly QuotaRoot[] = [
  "cacheQuotaConfiguration",
  "gwcQuotaConfiguration",
  "org.geowebcache.diskquota.DiskQuotaConfig",
];
const FIELDS: readonly (keyof QuotaConfiguration)[] = [
  "enabled",
  "cacheCleanUpFrequency",
  "cacheCleanUpUnits",
  "maxConcurrentCleanUps",
  "globalExpirationPolicyName",
  "globalQuota",
  "layerQuotas",
];

/**
 * Decodes the body of a PUT to `diskquota.<format>` (`docs/reference/wire-format.md`, Disk quota). Returns the change
 * and the root name of the document. One wrong field refuses the whole change.
 */
export function decodeQuotaChange(
  body: Uint8Array,
  format: DocumentFormat,
  knownLayers: ReadonlySet<string>,
): Result<{ readonly root: QuotaRoot; readonly change: QuotaChange }, Refusal> {
  const document = readDocument(body, format, "a cacheQuotaConfiguration document", ROOTS);
  if (!document.ok) return document;
  const root = ROOTS.find((name) => name === document.value.name) ?? "cacheQuotaConfiguration";
  const problems = startProblems();
  const fields = fieldsOf(document.value, "", FIELDS, problems);
  const from: Reading = { root, problems };

  const enabled = readEnabled(fields, problems);
  const cacheCleanUpFrequency = readPositive(fields, "cacheCleanUpFrequency", problems);
  const cacheCleanUpUnits = readEnum(from, fields, "cacheCleanUpUnits", "TimeUnit", CLEAN_UP_UNITS, upper);
  const maxConcurrentCleanUps = readPositive(fields, "maxConcurrentCleanUps", problems);
  const globalExpirationPolicyName = readPolicy(from, fields, "globalExpirationPolicyName");
  const quotaField = fields.one("globalQuota");
  const globalQuota = quotaField === undefined ? undefined : readQuota(from, quotaField, "globalQuota");
  const layerQuotas = readLayerQuotas(from, fields, knownLayers);
  if (problems.first !== undefined) return refuse(problems.first);
  const change: QuotaChange = {
    ...(enabled === undefined ? {} : { enabled }),
    ...(cacheCleanUpFrequency === undefined ? {} : { cacheCleanUpFrequency }),
    ...(cacheCleanUpUnits === undefined ? {} : { cacheCleanUpUnits }),
    ...(maxConcurrentCleanUps === undefined ? {} : { maxConcurrentCleanUps }),
    ...(globalExpirationPolicyName === undefined ? {} : { globalExpirationPolicyName }),
    ...(globalQuota === undefined ? {} : { globalQuota }),
    ...(layerQuotas === undefined ? {} : { layerQuotas }),
  };
  return ok({ root, change });
}

interface Reading {
  readonly root: QuotaRoot;
  readonly problems: Problems;
}

function readEnabled(fields: Fields, problems: Problems): boolean | undefined {
  const given = fields.one("enabled");
  if (given === undefined) return undefined;
  const text = scalarOf(given)?.trim().toLowerCase();
  if (text === "true") return true;
  if (text === "false") return false;
  return note(problems, badFieldAt("enabled", "true or false", given));
}

function readPositive(fields: Fields, name: string, problems: Problems): number | undefined {
  const given = fields.one(name);
  if (given === undefined) return undefined;
  const text = scalarOf(given)?.trim();
  const number = parseInteger(text ?? "");
  if (number !== undefined && number > 0 && Number.isSafeInteger(number)) return number;
  const got = text === undefined ? "fields" : plain(text);
  const bound = number !== undefined && number > 0 ? ` of at most ${Number.MAX_SAFE_INTEGER}` : "";
  return note(problems, { code: "bad_field", message: `${name} shall be a positive integer${bound}: ${got}` });
}

/**
 * Returns a value unquoted, as the contract's messages show it. Quotes and shortens a value with blanks or control
 * characters, or with more than 200 characters.
 */
const plain = (text: string): string => (/^[^\p{C}\p{Z}]{1,200}$/u.test(text) ? text : shown(text));

const upper = (text: string): string => text.toUpperCase();
const same = (text: string): string => text;

/**
 * Reads a word of an enumeration. The refusal begins with GWC's line (`No enum constant StorageUnit.ZZiB`); its details
 * name the path, the value and the allowed words (`docs/reference/wire-format.md`, Disk quota).
 */
function readEnum<T extends string>(
  from: Reading,
  fields: Fields,
  name: string,
  enumName: string,
  allowed: readonly T[],
  normal: (text: string) => string,
): T | undefined {
  const given = fields.one(name);
  if (given === undefined) return undefined;
  const text = scalarOf(given)?.trim();
  const found = allowed.find((value) => text !== undefined && value === normal(text));
  if (found !== undefined) return found;
  return note(from.problems, {
    code: "bad_field",
    message: `No enum constant ${enumName}.${plain(text ?? "")}`,
    details: [
      `path: /${from.root}/${fields.path(name).replaceAll(".", "/")} ${placeOf(given)}`,
      `value: ${shown(text ?? "")}`,
      `allowed: ${allowed.join(", ")}`,
    ],
  });
}

const readPolicy = (from: Reading, fields: Fields, name: string): ExpirationPolicy | undefined =>
  readEnum(from, fields, name, "ExpirationPolicy", EXPIRATION_POLICIES, upper);

/** Reads `value`, `units` or both. If neither is given, reads GWC's `bytes`; the `id` beside `bytes` is ignored. */
function readQuota(from: Reading, field: Field, path: string): Partial<Quota> {
  const fields = fieldsOf(field, `${path}.`, ["value", "units", "bytes"], from.problems);
  const isBytes = !field.children.some(({ name }) => name === "value" || name === "units");
  const given = fields.one(isBytes ? "bytes" : "value");
  const text = given === undefined ? undefined : (scalarOf(given) ?? "");
  const value = text === undefined ? undefined : parseQuotaValue(text);
  const isWhole = value === undefined || !isBytes || /^\d+$/.test(value);
  if (given !== undefined && (value === undefined || !isWhole)) {
    const expected = isBytes ? "a whole number, 0 or more" : "a decimal number, 0 or more, of at most 100 digits";
    note(from.problems, badFieldAt(fields.path(isBytes ? "bytes" : "value"), expected, given));
  }
  const units =
    isBytes && value !== undefined ? "B" : readEnum(from, fields, "units", "StorageUnit", STORAGE_UNITS, same);
  if (value !== undefined) {
    const tooLarge = checkQuotaSize(path, { value, units: units ?? "B" });
    if (tooLarge !== undefined) note(from.problems, { ...tooLarge, message: `${tooLarge.message} ${placeOf(field)}` });
  }
  return { ...(value === undefined ? {} : { value }), ...(units === undefined ? {} : { units }) };
}

/**
 * Reads the quotas of layers: `LayerQuota` elements in XML; in JSON an array of objects, `{"LayerQuota": […]}`, or one
 * object.
 */
function readLayerQuotas(
  from: Reading,
  fields: Fields,
  knownLayers: ReadonlySet<string>,
): readonly LayerQuota[] | undefined {
  const raw = fields.field.children.filter((c) => c.name === "layerQuotas");
  const [list, second] = raw;
  if (list === undefined) return undefined;
  if (second !== undefined) fields.one("layerQuotas");
  const quotas: LayerQuota[] = [];
  const seen = new Set<string>();
  entriesOf(from, list).forEach((entry, n) => {
    const quota = readLayerQuota(from, entry, `layerQuotas.LayerQuota[${n + 1}]`, knownLayers);
    if (quota === undefined) return;
    if (seen.has(quota.layer)) {
      const message = `layerQuotas: expected each layer once, got ${shown(quota.layer)} again ${placeOf(entry)}`;
      note(from.problems, { code: "bad_field", message });
    }
    seen.add(quota.layer);
    quotas.push(quota);
  });
  return quotas;
}

function entriesOf(from: Reading, list: Field): readonly Field[] {
  if (list.kind === "list") return list.children;
  if (isEmpty(list)) return [];
  if (list.children.some((c) => c.name === "layer")) return [list];
  const known = ["LayerQuota"];
  checkCase(list, "layerQuotas.", known, from.problems);
  const entries = list.children.filter((c) => c.name === "LayerQuota");
  // Without this refusal, a misnamed element would remove all layer quotas and report success.
  if (entries.length === 0) note(from.problems, badFieldAt("layerQuotas", "LayerQuota entries", list));
  return expanded(entries);
}

function readLayerQuota(
  from: Reading,
  entry: Field,
  path: string,
  knownLayers: ReadonlySet<string>,
): LayerQuota | undefined {
  const fields = fieldsOf(entry, `${path}.`, ["layer", "expirationPolicyName", "quota"], from.problems);
  const layer = fields.text("layer");
  if (layer !== undefined && !knownLayers.has(layer)) {
    return note(from.problems, unknownLayer(plainName(layer)));
  }
  const expirationPolicyName = readPolicy(from, fields, "expirationPolicyName");
  const field = fields.one("quota");
  const quota = field === undefined ? {} : readQuota(from, field, fields.path("quota"));
  const { value, units } = quota;
  const complete =
    layer !== undefined && expirationPolicyName !== undefined && value !== undefined && units !== undefined;
  if (complete) return { layer, expirationPolicyName, quota: { value, units } };
  const missing = [
    layer === undefined ? "layer" : "",
    expirationPolicyName === undefined ? "expirationPolicyName" : "",
    value === undefined ? "quota.value" : "",
    units === undefined ? "quota.units" : "",
  ].filter((name) => name !== "");
  return note(from.problems, {
    code: "bad_field",
    message: `${path}: expected layer, expirationPolicyName and quota, without ${missing.join(", ")} ${placeOf(entry)}`,
  });
}

/** Returns a layer's name for the first line of a message: unquoted, blanks included, but never with a line break. */
const plainName = (name: string): string => (/^\P{C}{1,200}$/u.test(name) ? name : shown(name));

/**
 * Encodes a whole configuration in ASCII, in the field order of `docs/reference/wire-format.md`, Disk quota. JSON is
 * compact; XML has no declaration.
 */
export function encodeQuota(
  config: QuotaConfiguration,
  format: DocumentFormat,
  root: QuotaRoot,
  form: QuotaForm,
): string {
  return format === "xml" ? encodeXml(config, root, form) : encodeJson(config, root, form);
}

function encodeJson(config: QuotaConfiguration, root: QuotaRoot, form: QuotaForm): string {
  const quotaText = (q: Quota): string =>
    form === "bytes"
      ? `{"id":0,"bytes":${quotaBytes(q)}}`
      : `{"value":${asciiJson(q.value)},"units":${asciiJson(q.units)}}`;
  const layers = config.layerQuotas.map(
    (l) =>
      `{"layer":${asciiJson(l.layer)},"expirationPolicyName":${asciiJson(l.expirationPolicyName)},"quota":${quotaText(l.quota)}}`,
  );
  const fields = [
    `"enabled":${config.enabled}`,
    `"cacheCleanUpFrequency":${config.cacheCleanUpFrequency}`,
    `"cacheCleanUpUnits":${asciiJson(config.cacheCleanUpUnits)}`,
    `"maxConcurrentCleanUps":${config.maxConcurrentCleanUps}`,
    `"globalExpirationPolicyName":${asciiJson(config.globalExpirationPolicyName)}`,
    `"globalQuota":${quotaText(config.globalQuota)}`,
    `"layerQuotas":[${layers.join(",")}]`,
  ];
  return `{"${root}":{${fields.join(",")}}}`;
}

function encodeXml(config: QuotaConfiguration, root: QuotaRoot, form: QuotaForm): string {
  const element = (name: string, text: string): string => `<${name}>${escapeXml(text)}</${name}>`;
  const quotaText = (q: Quota): string =>
    form === "bytes"
      ? `<id>0</id>${element("bytes", String(quotaBytes(q)))}`
      : element("value", q.value) + element("units", q.units);
  const layers = config.layerQuotas.map(
    (l) =>
      `<LayerQuota>${element("layer", l.layer)}${element("expirationPolicyName", l.expirationPolicyName)}` +
      `<quota>${quotaText(l.quota)}</quota></LayerQuota>`,
  );
  const fields = [
    element("enabled", String(config.enabled)),
    element("cacheCleanUpFrequency", String(config.cacheCleanUpFrequency)),
    element("cacheCleanUpUnits", config.cacheCleanUpUnits),
    element("maxConcurrentCleanUps", String(config.maxConcurrentCleanUps)),
    element("globalExpirationPolicyName", config.globalExpirationPolicyName),
    `<globalQuota>${quotaText(config.globalQuota)}</globalQuota>`,
    layers.length === 0 ? "<layerQuotas/>" : `<layerQuotas>${layers.join("")}</layerQuotas>`,
  ];
  return `<${root}>${fields.join("")}</${root}>`;
}
