import {
  type Document,
  isAlias,
  isMap as isMapNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type ScalarTag,
} from "yaml";
import { errorMessage } from "../../../lib/error-code.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import type { Origins } from "../origins.ts";

/** Returns a number with base 60, such as 1:30. */
function sexagesimal(digits: string): number {
  const sign = digits.startsWith("-") ? -1 : 1;
  const parts = digits.replace(/^[-+]/, "").split(":");
  return sign * parts.reduce((sum, part) => sum * 60 + Number(part), 0);
}

function wholeNumber(text: string): number {
  const plain = text.replaceAll("_", "");
  const sign = plain.startsWith("-") ? -1 : 1;
  const digits = plain.replace(/^[-+]/, "");
  if (/^0b/.test(digits)) return sign * Number.parseInt(digits.slice(2), 2);
  if (/^0x/.test(digits)) return sign * Number.parseInt(digits.slice(2), 16);
  if (digits.includes(":")) return sexagesimal(plain);
  return sign * Number.parseInt(digits, digits.startsWith("0") ? 8 : 10);
}

function decimalNumber(text: string): number {
  const plain = text.replaceAll("_", "").toLowerCase();
  if (plain.endsWith("nan")) return Number.NaN;
  if (plain.endsWith("inf")) return plain.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return plain.includes(":") ? sexagesimal(plain) : Number(plain);
}

/**
 * The plain scalars of PyYAML, which differ slightly from YAML 1.1: `y` and `n` are texts, and so is `1e5`. Dates stay
 * texts. The expressions follow YAML 1.1 (https://yaml.org/type/), with PyYAML's changes.
 */
const TAGS: readonly ScalarTag[] = [
  { tag: "tag:yaml.org,2002:null", default: true, test: /^(?:~|null|Null|NULL)?$/, resolve: () => null },
  {
    tag: "tag:yaml.org,2002:bool",
    default: true,
    test: /^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$/,
    resolve: (text) => /^(?:yes|true|on)$/i.test(text),
  },
  {
    tag: "tag:yaml.org,2002:int",
    default: true,
    test: /^[-+]?(?:0b[01_]+|0x[\da-fA-F_]+|0[0-7_]*|[1-9][\d_]*(?::[0-5]?\d)*)$/,
    resolve: wholeNumber,
  },
  {
    tag: "tag:yaml.org,2002:float",
    default: true,
    test: /^(?:[-+]?\d[\d_]*\.[\d_]*(?:[eE][-+]\d+)?|\.\d[\d_]*(?:[eE][-+]\d+)?|[-+]?\d[\d_]*(?::[0-5]?\d)+\.[\d_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/,
    resolve: decimalNumber,
  },
];

const LINES = /\n/;

/**
 * Reads YAML as PyYAML does: version 1.1, and of repeated keys the last value. Records the position of each member.
 * @param name the file, for the origins
 */
export function readPyYaml(text: string, name: string, origins: Origins): Result<unknown, string> {
  const counter = new LineCounter();
  const document = parseDocument(text, {
    version: "1.1",
    schema: "failsafe",
    customTags: (tags) => [...tags, ...TAGS],
    merge: true,
    lineCounter: counter,
    logLevel: "silent",
  });
  const fault = document.errors.find(({ code }) => code !== "DUPLICATE_KEY");
  if (fault !== undefined) return refuse(fault.message.split(LINES)[0] ?? fault.message);
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 10_000 });
  } catch (error) {
    // The library throws if there are too many aliases.
    return refuse(errorMessage(error));
  }
  record(document.contents, value, { document, origins, lineOf: (at) => `${name}:${counter.linePos(at).line}` });
  return ok(value);
}

interface Recording {
  readonly document: Document;
  readonly origins: Origins;
  readonly lineOf: (offset: number) => string;
}

/** Records the origins of the members of a node, which has the given value. */
function record(node: unknown, value: unknown, recording: Recording): void {
  const { document, origins, lineOf } = recording;
  const own = isAlias(node) ? node.resolve(document) : node;
  // Aliases of one node share a value. Each value is recorded once, because a file may nest aliases deeply.
  if (typeof value !== "object" || value === null || origins.has(value)) return;
  const members = new Map<string, string>();
  if (isSeq(own))
    for (const [i, item] of own.items.entries()) {
      const at = startOf(item);
      if (at !== undefined) members.set(String(i), lineOf(at));
      record(item, Object.getOwnPropertyDescriptor(value, String(i))?.value, recording);
    }
  if (isMapNode(own))
    for (const pair of [...own.items].filter(isMerge).concat(own.items.filter((one) => !isMerge(one)))) {
      if (isMerge(pair)) mergedMembers(pair.value, members, recording);
      const key = isScalar(pair.key) ? String(pair.key.value) : undefined;
      const at = startOf(pair.key);
      if (key === undefined || isMerge(pair)) continue;
      if (at !== undefined) members.set(key, lineOf(at));
      record(pair.value, Object.getOwnPropertyDescriptor(value, key)?.value, recording);
    }
  origins.set(value, members);
}

const isMerge = (pair: { readonly key: unknown }): boolean => isScalar(pair.key) && pair.key.source === "<<";

/** Records members that `<<` merges from other maps. */
function mergedMembers(node: unknown, members: Map<string, string>, recording: Recording): void {
  const own = isAlias(node) ? node.resolve(recording.document) : node;
  if (isSeq(own)) for (const item of own.items) mergedMembers(item, members, recording);
  if (!isMapNode(own)) return;
  for (const pair of own.items) {
    const at = startOf(pair.key);
    if (isScalar(pair.key) && at !== undefined) members.set(String(pair.key.value), recording.lineOf(at));
  }
}

const startOf = (item: unknown): number | undefined => {
  const node = isPair(item) ? item.key : item;
  return isNodeWithRange(node) ? node.range?.[0] : undefined;
};

const isNodeWithRange = (node: unknown): node is Node => typeof node === "object" && node !== null && "range" in node;
