import {
  CORE_SCHEMA,
  constructFromEvents,
  EVENT_ID,
  type Event,
  getScalarValue,
  mergeTag,
  parseEvents,
  SCALAR_STYLE,
  type ScalarEvent,
  YAMLException,
} from "js-yaml";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import type { Path } from "./problems.ts";

/** A document of YAML 1.2. */
export interface ParsedYaml {
  /** Plain data. Aliases of a collection share one object. Undefined if the document is empty. */
  readonly content: unknown;
  readonly hasAliases: boolean;
  /**
   * Returns the offset of a key or its value. If the path does not exist, returns the offset of its nearest existing
   * parent.
   */
  offsetOf(path: Path, part: "key" | "value"): number | undefined;
}

/** The first syntax error of a text. */
export interface YamlMistake {
  readonly offset: number;
  readonly message: string;
}

const SCHEMA = CORE_SCHEMA.withTags(mergeTag);
/** Limits far beyond any real file. Each level takes stack; each alias and each merged key takes time. */
export const MAX_YAML_DEPTH = 50;
const MAX_ALIASES = 100_000;
const MAX_MERGED_KEYS = 1_000_000;

/** Parses a text with at most one document. */
export function parseYaml(text: string): Result<ParsedYaml, YamlMistake> {
  try {
    const events = parseEvents(text, { maxDepth: MAX_YAML_DEPTH });
    const [content, ...others] = constructFromEvents(events, {
      source: text,
      schema: SCHEMA,
      maxAliases: MAX_ALIASES,
      maxTotalMergeKeys: MAX_MERGED_KEYS,
    });
    if (others.length > 0) return refuse({ offset: 0, message: "expected one document, got several" });
    const places = new Places(text, events);
    return ok({
      content,
      hasAliases: events.some(({ type }) => type === EVENT_ID.ALIAS),
      offsetOf: (path, part) => places.offsetOf(path, part),
    });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    return refuse({ offset: error.mark?.position ?? 0, message: unquoted(error.reason) + remedyOf(error.reason) });
  }
}

/** Removes the parser's quotations of the file from a message, because they may contain a secret. */
const unquoted = (reason: string): string => reason.replace(/ "(?:\\.|[^"\\])*"| !<.*>|: .*/g, "");

/** Remedies for common mistakes, by a pattern of the parser's message. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [
    /^deficient indentation|^unexpected end of the stream/,
    "a quoted text, a [ or a { above is not closed, or this line needs more indentation",
  ],
  [
    /^bad indentation of a mapping entry/,
    'look at the indentation: the keys of a map begin in one column; a text that holds ": " needs quotes around it, as one that begins with @ or `',
  ],
  [
    /^bad indentation of a sequence entry|^end of the stream/,
    "look at the indentation: the items of a list, and the keys of a map, begin in one column",
  ],
  [/multiline key/, "in the line before, a key needs a colon and a space behind it"],
];

function remedyOf(reason: string): string {
  const remedy = REMEDIES.find(([pattern]) => pattern.test(reason))?.[1];
  return remedy === undefined ? "" : `; ${remedy}`;
}

/** A node of a document, by the index of its event. */
type NodeIndex = number;

/** Finds the positions of nodes in a valid text. Examines only the collections on the requested path. */
class Places {
  readonly #text: string;
  readonly #events: readonly Event[];
  readonly #known = new Map<NodeIndex, readonly NodeIndex[]>();

  constructor(text: string, events: readonly Event[]) {
    this.#text = text;
    this.#events = events;
  }

  offsetOf(path: Path, part: "key" | "value"): number | undefined {
    let node = this.#innerOf(0)[0];
    let offset = node === undefined ? undefined : this.#startOf(node);
    for (const [i, key] of path.entries()) {
      const collection = node === undefined ? undefined : this.#resolved(node);
      if (collection === undefined) return offset;
      const inner = this.#innerOf(collection);
      if (this.#events[collection]?.type === EVENT_ID.SEQUENCE) {
        node = typeof key === "number" ? inner[key] : undefined;
        if (node === undefined) return offset;
        offset = this.#startOf(node) ?? offset;
      } else {
        const at = inner.findIndex((one, n) => n % 2 === 0 && this.#textOf(one) === key);
        const keyNode = inner[at];
        node = inner[at + 1];
        if (keyNode === undefined || node === undefined) return offset;
        const keyOffset = this.#startOf(keyNode) ?? offset;
        offset = part === "key" && i === path.length - 1 ? keyOffset : (this.#startOf(node) ?? keyOffset);
      }
    }
    return offset;
  }

  /** Returns the child nodes of a document or a collection. In a map, keys and values alternate. */
  #innerOf(collection: NodeIndex): readonly NodeIndex[] {
    const known = this.#known.get(collection);
    if (known !== undefined) return known;
    const inner: NodeIndex[] = [];
    let depth = 0;
    for (let i = collection; i < this.#events.length; i++) {
      const type = this.#events[i]?.type;
      if (depth === 1 && type !== EVENT_ID.POP) inner.push(i);
      if (type === EVENT_ID.POP) depth--;
      else if (type !== EVENT_ID.SCALAR && type !== EVENT_ID.ALIAS) depth++;
      if (depth === 0) break;
    }
    this.#known.set(collection, inner);
    return inner;
  }

  /**
   * Returns the node that an alias refers to: the last preceding one with its anchor. Returns any other node unchanged.
   */
  #resolved(node: NodeIndex): NodeIndex | undefined {
    const alias = this.#events[node];
    if (alias?.type !== EVENT_ID.ALIAS) return node;
    const name = this.#anchorOf(alias);
    for (let i = node - 1; i > 0; i--) {
      const event = this.#events[i];
      if (event !== undefined && event.type !== EVENT_ID.ALIAS && this.#anchorOf(event) === name) return i;
    }
    return undefined;
  }

  #anchorOf(event: Event): string | undefined {
    return "anchorStart" in event && event.anchorStart >= 0
      ? this.#text.slice(event.anchorStart, event.anchorEnd)
      : undefined;
  }

  #textOf(node: NodeIndex): string | undefined {
    const event = this.#events[node];
    return event?.type === EVENT_ID.SCALAR ? getScalarValue(this.#text, event) : undefined;
  }

  /**
   * Returns the offset at which a node begins. Undefined if the node has no text or is a block text, which begins on a
   * later line.
   */
  #startOf(node: NodeIndex): number | undefined {
    const event = this.#events[node];
    if (event?.type === EVENT_ID.ALIAS) return event.anchorStart - "*".length;
    if (event?.type === EVENT_ID.SCALAR) return startOfScalar(event);
    return event?.type === EVENT_ID.SEQUENCE || event?.type === EVENT_ID.MAPPING ? event.start : undefined;
  }
}

function startOfScalar({ style, valueStart }: ScalarEvent): number | undefined {
  const isBlock = style === SCALAR_STYLE.LITERAL_BLOCK || style === SCALAR_STYLE.FOLDED_BLOCK;
  if (isBlock || valueStart < 0) return undefined;
  const isQuoted = style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED;
  return isQuoted ? valueStart - 1 : valueStart;
}
