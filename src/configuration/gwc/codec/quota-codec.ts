import { placeOf } from "../../../body/body-text.ts";
import { type DocumentFormat, readDocument } from "../../../body/document.ts";
import { expanded, type Field, isEmpty, scalarOf } from "../../../body/field.ts";
import { checkCase, Fields, Problems, parseInteger } from "../../../body/fields.ts";
import { asLayerName } from "../../../layer/tile-set.ts";
import { defined } from "../../../lib/defined.ts";
import { type Refusal, shown, unknownLayer } from "../../../lib/refusal.ts";
import type { Result } from "../../../lib/result.ts";
import { quotaBytes } from "../../../quota/configuration/quota-bytes.ts";
import {
  DEFAULT_QUOTA,
  type ExpirationPolicy,
  type LayerQuota,
  QUOTA_FIELDS,
  QUOTA_ROOTS,
  type Quota,
  type QuotaChange,
  type QuotaConfiguration,
  type QuotaForm,
  type QuotaRoot,
} from "../../../quota/configuration/quota-configuration.ts";
import {
  CLEAN_UP_UNITS,
  checkQuotaSize,
  EXPIRATION_POLICIES,
  LARGE_UNITS,
  parseQuotaValue,
  QUOTA_VALUE_EXPECTED,
  quotaFromFile,
  SHORT_TIMES,
  STORAGE_UNITS,
} from "../../../quota/configuration/quota-validation.ts";
import { type DocumentNode, list, type MapNode, map } from "../document-node.ts";
import { elementText, encodeJson } from "./encode-document.ts";

export interface DecodedQuotaChange {
  /** The root name of the document. */
  readonly root: QuotaRoot;
  readonly change: QuotaChange;
  /** The paths of unknown fields, which the server ignores as GWC does. Absent if the document has no unknown field. */
  readonly ignored?: readonly string[];
}

/** The words that a document may have: GeoWebCache's file may use more units than the classic interface. */
export type QuotaWords = "interface" | "geowebcache file";

/**
 * Decodes the body of a PUT to `diskquota.<format>` (`docs/reference/wire-format.md`, Disk quota). Refuses the whole
 * change if one field is wrong.
 */
export function decodeQuotaChange(
  body: Uint8Array,
  format: DocumentFormat,
  knownLayers: Pick<ReadonlySet<string>, "has">,
  words: QuotaWords = "interface",
): Result<DecodedQuotaChange, Refusal> {
  const document = readDocument(body, format, "a cacheQuotaConfiguration document", QUOTA_ROOTS);
  if (!document.ok) return document;
  const root = QUOTA_ROOTS.find((name) => name === document.value.name) ?? "cacheQuotaConfiguration";
  const fields = new Fields(document.value, "", QUOTA_FIELDS, new Problems());
  const from: Reading = { root, problems: fields.problems, knownLayers, words };
  const change: QuotaChange = defined({
    enabled: fields.read("enabled", "true or false", (text) => BOOLEANS.get(text.trim().toLowerCase())),
    ...readCleanUp(from, fields),
    maxConcurrentCleanUps: readPositive(fields, "maxConcurrentCleanUps"),
    globalExpirationPolicyName: readPolicy(from, fields, "globalExpirationPolicyName"),
    globalQuota: readQuota(from, fields, "globalQuota"),
    layerQuotas: readLayerQuotas(from, fields),
  });
  const { ignored } = fields.problems;
  return fields.problems.result({ root, change, ...(ignored.length === 0 ? {} : { ignored }) });
}

interface Reading {
  readonly root: QuotaRoot;
  readonly problems: Problems;
  readonly knownLayers: Pick<ReadonlySet<string>, "has">;
  readonly words: QuotaWords;
}

/**
 * Reads the interval between clean-ups. Converts a unit of the file that is shorter than a second to seconds, rounded
 * up.
 */
function readCleanUp(from: Reading, fields: Fields): Pick<QuotaChange, "cacheCleanUpFrequency" | "cacheCleanUpUnits"> {
  const cacheCleanUpFrequency = readPositive(fields, "cacheCleanUpFrequency");
  const known = from.words === "interface" ? CLEAN_UP_UNITS : [...CLEAN_UP_UNITS, ...SHORT_TIMES.keys()];
  const units = readEnum(from, fields, "cacheCleanUpUnits", "TimeUnit", known, upper);
  const perSecond = SHORT_TIMES.get(units ?? "");
  if (perSecond !== undefined)
    return {
      cacheCleanUpFrequency: Math.ceil((cacheCleanUpFrequency ?? DEFAULT_QUOTA.cacheCleanUpFrequency) / perSecond),
      cacheCleanUpUnits: "SECONDS",
    };
  const cacheCleanUpUnits = CLEAN_UP_UNITS.find((unit) => unit === units);
  return defined({ cacheCleanUpFrequency, cacheCleanUpUnits });
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["false", false],
]);

function readPositive(fields: Fields, name: string): number | undefined {
  const given = fields.one(name);
  if (given === undefined) return undefined;
  const text = scalarOf(given)?.trim();
  const number = parseInteger(text ?? "");
  if (number !== undefined && number > 0 && Number.isSafeInteger(number)) return number;
  const got = text === undefined ? "fields" : plain(text);
  const bound = number !== undefined && number > 0 ? ` of at most ${Number.MAX_SAFE_INTEGER}` : "";
  return fields.problems.note({
    code: "bad_field",
    message: `${name} shall be a positive integer${bound}: ${got}`,
  });
}

/**
 * Returns a value as messages of the classic interface show it: without quotes. A value with blanks or control
 * characters, or with more than 200 characters, is quoted and shortened.
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
  return from.problems.note({
    code: "bad_field",
    message: `No enum constant ${enumName}.${plain(text ?? "")}`,
    details: [
      `path: /${from.root}/${fields.path(name).replaceAll(".", "/")}${placeOf(given)}`,
      `value: ${shown(text ?? "")}`,
      `allowed: ${allowed.join(", ")}`,
    ],
  });
}

const readPolicy = (from: Reading, fields: Fields, name: string): ExpirationPolicy | undefined =>
  readEnum(from, fields, name, "ExpirationPolicy", EXPIRATION_POLICIES, upper);

/** Reads `value`, `units` or both. If neither is given, reads GWC's `bytes`; the `id` beside `bytes` is ignored. */
function readQuota(from: Reading, parent: Fields, name: string): Partial<Quota> | undefined {
  const field = parent.one(name);
  if (field === undefined) return undefined;
  const path = parent.path(name);
  const fields = new Fields(field, `${path}.`, ["value", "units", "bytes", "id"], from.problems);
  const isBytes = !field.children.some((child) => child.name === "value" || child.name === "units");
  const value = isBytes
    ? fields.read("bytes", "a whole number, 0 or more", parseBytes)
    : fields.read("value", QUOTA_VALUE_EXPECTED, parseQuotaValue);
  const known = from.words === "interface" ? STORAGE_UNITS : [...STORAGE_UNITS, ...LARGE_UNITS.keys()];
  const named = isBytes && value !== undefined ? "B" : readEnum(from, fields, "units", "StorageUnit", known, same);
  if (from.words === "geowebcache file" && value !== undefined && named !== undefined)
    return quotaFromFile({ value, units: named });
  const units = STORAGE_UNITS.find((unit) => unit === named);
  const tooLarge = value === undefined ? undefined : checkQuotaSize(path, { value, units: units ?? "B" });
  if (tooLarge !== undefined) from.problems.at(field, tooLarge.message);
  return defined({ value, units });
}

function parseBytes(text: string): string | undefined {
  const value = parseQuotaValue(text);
  return value !== undefined && /^\d+$/.test(value) ? value : undefined;
}

/**
 * Reads the quotas of layers: in XML `LayerQuota` elements; in JSON an array of objects, `{"LayerQuota": […]}`, or one
 * object.
 */
function readLayerQuotas(from: Reading, fields: Fields): readonly LayerQuota[] | undefined {
  const [list, second] = fields.field.children.filter(({ name }) => name === "layerQuotas");
  if (list === undefined) return undefined;
  if (second !== undefined) fields.one("layerQuotas");
  const seen = new Set<string>();
  return entriesOf(from, list).flatMap((entry, n) => {
    const quota = readLayerQuota(from, entry, `layerQuotas.LayerQuota[${n + 1}]`);
    if (quota === undefined) return [];
    if (seen.has(quota.layer))
      from.problems.at(entry, `layerQuotas: expected each layer once, got ${shown(quota.layer)} again`);
    seen.add(quota.layer);
    return [quota];
  });
}

function entriesOf({ problems }: Reading, list: Field): readonly Field[] {
  if (list.kind === "list") return list.children;
  if (isEmpty(list)) return [];
  if (list.children.some((c) => c.name === "layer")) return [list];
  checkCase(list, "layerQuotas.", ["LayerQuota"], problems);
  const entries = list.children.filter((c) => c.name === "LayerQuota");
  // Without this refusal, a misspelt element would remove all layer quotas and report success.
  if (entries.length === 0) problems.expected("layerQuotas", "LayerQuota entries", list);
  return expanded(entries);
}

function readLayerQuota(from: Reading, entry: Field, path: string): LayerQuota | undefined {
  const fields = new Fields(entry, `${path}.`, ["layer", "expirationPolicyName", "quota"], from.problems);
  const layer = fields.text("layer");
  if (layer !== undefined && !from.knownLayers.has(layer)) return from.problems.note(unknownLayer(plainName(layer)));
  const expirationPolicyName = readPolicy(from, fields, "expirationPolicyName");
  const { value, units } = readQuota(from, fields, "quota") ?? {};
  if (layer !== undefined && expirationPolicyName !== undefined && value !== undefined && units !== undefined)
    return { layer: asLayerName(layer), expirationPolicyName, quota: { value, units } };
  const needed = { layer, expirationPolicyName, "quota.value": value, "quota.units": units };
  const missing = Object.entries(needed).flatMap(([name, given]) => (given === undefined ? [name] : []));
  return from.problems.at(
    entry,
    `${path}: expected layer, expirationPolicyName and quota, without ${missing.join(", ")}`,
  );
}

/**
 * Returns a layer's name for the first line of a message: without quotes, with its blanks, but never with a line break.
 */
const plainName = (name: string): string => (/^\P{C}{1,200}$/u.test(name) ? name : shown(name));

/**
 * Encodes a whole configuration in ASCII, in the field order of `docs/reference/wire-format.md`, Disk quota. JSON is
 * compact; XML has no declaration and no line breaks.
 */
export function encodeQuota(
  config: QuotaConfiguration,
  format: DocumentFormat,
  root: QuotaRoot,
  form: QuotaForm,
): string {
  const node = quotaNode(config, form);
  return format === "xml" ? elementText(root, node) : encodeJson(root, node);
}

/** Returns a configuration as elements. */
export const quotaNode = (config: QuotaConfiguration, form: QuotaForm): MapNode =>
  map(QUOTA_FIELDS.map((name) => [name, fieldNode(config, name, form)]));

function fieldNode(config: QuotaConfiguration, name: (typeof QUOTA_FIELDS)[number], form: QuotaForm): DocumentNode {
  if (name === "globalQuota") return sizeNode(config.globalQuota, form);
  if (name !== "layerQuotas") return config[name];
  const items = config.layerQuotas.map(({ layer, expirationPolicyName, quota }) =>
    map([...Object.entries({ layer, expirationPolicyName }), ["quota", sizeNode(quota, form)]]),
  );
  return list("LayerQuota", items);
}

/** GeoWebCache reads `value` before `units`. */
const sizeNode = ({ value, units }: Quota, form: QuotaForm): MapNode =>
  map(Object.entries(form === "bytes" ? { id: 0, bytes: quotaBytes({ value, units }) } : { value, units }));
