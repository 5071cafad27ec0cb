import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type YAMLError,
} from "yaml";
import type { Path } from "./problems.ts";
import { type LayerItem, type SplitText, splitLayers } from "./split-layers.ts";

/** A document of YAML 1.2. */
export interface ParsedYaml {
  readonly errors: readonly YAMLError[];
  readonly lines: LineCounter;
  /** Returns plain data. @throws ReferenceError for more aliases */
  content(mostAliases: number): unknown;
  /** Returns where a key or its value stands; if the path does not exist, where its nearest existing parent does. */
  offsetOf(path: Path, part: "key" | "value"): number | undefined;
}

// Pretty errors quote the file, and so its secrets.
const OPTIONS = { prettyErrors: false, merge: true, uniqueKeys: true } as const;

/**
 * Parses YAML. The items of a long list of layers are parsed one by one, so that only one has its nodes in memory: those
 * of 10,000 layers take 360 MB, and a third of the time. `leastLength`: of a text that is parsed in parts.
 */
export function parseYaml(text: string, leastLength?: number): ParsedYaml {
  const split = splitLayers(text, leastLength);
  return (split && parsedParts(text, split)) ?? parsedWhole(text);
}

function parsedWhole(text: string): ParsedYaml {
  const lines = new LineCounter();
  const document = parseDocument(text, { ...OPTIONS, lineCounter: lines });
  return {
    errors: errorsOf(document),
    lines,
    content: (maxAliasCount) => document.toJS({ maxAliasCount }),
    offsetOf: (path, part) => offsetIn(document, path, part),
  };
}

const errorsOf = ({ errors, warnings }: Document): readonly YAMLError[] => [...errors, ...warnings];

/** Returns the document with its layers parsed one by one. Undefined: there is an error, which the whole document tells. */
function parsedParts(text: string, { head, items, removed, inserted }: SplitText): ParsedYaml | undefined {
  const rest = parseDocument(head, OPTIONS);
  if (errorsOf(rest).length > 0) return undefined;
  const layers: unknown[] = [];
  for (const item of items) {
    const values = valuesOf(text, item);
    if (!Array.isArray(values) || values.length !== 1) return undefined;
    layers.push(values[0]);
  }
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines.addNewLine(at + 1);
  return {
    errors: [],
    lines,
    content(maxAliasCount) {
      const content: unknown = rest.toJS({ maxAliasCount });
      return typeof content === "object" && content !== null ? { ...content, layers } : content;
    },
    offsetOf(path, part) {
      const [key, i, ...inner] = path;
      const item = key === "layers" && typeof i === "number" ? items[i] : undefined;
      if (item === undefined) {
        const offset = offsetIn(rest, path, part);
        return offset === undefined || offset < removed.start + inserted
          ? offset
          : offset - inserted + (removed.end - removed.start);
      }
      if (inner.length === 0 && item.value !== undefined) return item.value;
      const parsed = parseItem(text, item);
      const offset = parsed && offsetIn(parsed, [0, ...inner], part);
      return offset === undefined ? item.start : item.start + offset;
    },
  };
}

/** Returns the list of one item that a layer is. Undefined: there is an error. */
function valuesOf(text: string, item: LayerItem): unknown {
  const parsed = parseItem(text, item);
  try {
    return parsed?.toJS();
  } catch {
    // A merge key without a map: the parse of the whole document reports it.
    return undefined;
  }
}

/** Parses one layer, as a list of one item. Undefined: there is an error. */
function parseItem(text: string, { start, end }: LayerItem): Document | undefined {
  const parsed = parseDocument(text.slice(start, end), OPTIONS);
  return errorsOf(parsed).length > 0 ? undefined : parsed;
}

const offsetIn = (document: Document, path: Path, part: "key" | "value"): number | undefined =>
  offsetOf(document.contents, path, part, (node) => (isAlias(node) ? node.resolve(document) : node));

/** Returns the offset of a key or its value; if the path does not exist, that of its nearest existing parent. */
function offsetOf(
  root: Node | null,
  path: Path,
  part: "key" | "value",
  resolve: (node: Node) => Node | undefined,
): number | undefined {
  let node: Node | undefined = root ?? undefined;
  let offset = node?.range?.[0];
  for (const [i, key] of path.entries()) {
    const inner: Node | undefined = node === undefined ? undefined : resolve(node);
    if (isMap(inner)) {
      const pair: Pair | undefined = inner.items.find(
        (item) => (isScalar(item.key) ? String(item.key.value) : String(item.key)) === key,
      );
      if (pair === undefined) return offset;
      const keyOffset = isNode(pair.key) ? pair.key.range?.[0] : undefined;
      node = isNode(pair.value) ? pair.value : undefined;
      const last = i === path.length - 1;
      offset = (last && part === "key" ? undefined : node?.range?.[0]) ?? keyOffset ?? offset;
    } else if (isSeq(inner) && typeof key === "number") {
      const item: unknown = inner.items[key];
      if (!isNode(item)) return offset;
      node = item;
      offset = item.range?.[0] ?? offset;
    } else return offset;
  }
  return offset;
}
