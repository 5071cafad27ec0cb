import { isDeepStrictEqual } from "node:util";
import type { ObjectChange } from "../../../gwc/configured-object.ts";
import type { NamedNode, RootedDocument } from "../../../gwc/document-node.ts";
import { escapeXml } from "../../../lib/escape.ts";
import { childrenNamed, parseXml, type XmlElement } from "../../../lib/xml-element.ts";
import { elementText } from "../encode-document.ts";
import { CONTAINERS, type FileContent, type FileObject, RENAMED } from "./read-file.ts";
import { Splices } from "./splices.ts";

/** The children of the root in GeoWebCache's order. */
const ROOT_ORDER = [
  "version",
  "backendTimeout",
  "lockProvider",
  "cacheBypassAllowed",
  "runtimeStats",
  "httpUsername",
  "httpPassword",
  "proxyUrl",
  "serviceInformation",
  "formatModifiers",
  "blobStores",
  "gridSets",
  "fullWMS",
  "wmtsCiteCompliant",
  "layers",
];

/** The elements of old files, by the element that replaces them. */
const OLD_ELEMENTS: ReadonlyMap<string, string> = new Map([["gridSubsets", "grids"]]);

/**
 * Returns the text of a file with the changes. Everything else stays as it is: comments, unknown elements, white space.
 * A change of an object replaces the elements that have another value, and no others.
 */
export function editFile(content: FileContent, changes: readonly ObjectChange[]): string {
  const root = rootOf(content.text);
  const splices = new Splices(content.text);
  for (const change of changes) {
    if (change.kind === "settings") editSettings(splices, root, content, change);
    else editObject(splices, root, content, { ...change, kind: change.kind });
  }
  return splices.result();
}

/** GeoWebCache writes `version` at its next start. `identifier` and `location` follow from the path of the file. */
const NOT_WRITTEN: ReadonlySet<string> = new Set(["version", "identifier", "location"]);

/** @throws Error when the text, which was read before, is no XML */
function rootOf(text: string): XmlElement {
  const root = parseXml(text);
  if (!root.ok) throw new Error(`the file is no XML: ${root.error}`);
  return root.value;
}

function editSettings(splices: Splices, root: XmlElement, { objects }: FileContent, { document }: ObjectChange): void {
  const before = objects.find(({ kind }) => kind === "settings")?.document;
  if (document === undefined || before === undefined) return;
  const inFile = ([name, value]: NamedNode): NamedNode => [fileName(name), value];
  editFields(splices, root, {
    before: before.node.fields.map(inFile),
    after: document.node.fields.filter(([name]) => !NOT_WRITTEN.has(name)).map(inFile),
    order: ROOT_ORDER,
  });
}

function fileName(name: string): string {
  for (const [inFile, renamed] of RENAMED) if (renamed === name) return inFile;
  return name;
}

function editObject(
  splices: Splices,
  root: XmlElement,
  { objects }: FileContent,
  { kind, name, document }: Omit<ObjectChange, "kind"> & { readonly kind: keyof typeof CONTAINERS },
): void {
  const { element } = CONTAINERS[kind];
  const containers = childrenNamed(root, element);
  const items = containers.flatMap(({ children }) => children);
  const own = objects.filter((object) => object.kind === kind && object.name === name);
  const places = own.flatMap((object) => {
    const item = items.find(({ start }) => start === object.start);
    return item === undefined ? [] : [{ object, item }];
  });
  const last = places.at(-1);
  if (document === undefined) {
    // Remove all objects with the name. If only the last one were removed, the one before it would come into force.
    for (const { item } of places) splices.remove(item);
    return;
  }
  if (last !== undefined) {
    if (last.object.document.root === document.root) editElement(splices, last.item, last.object, document);
    else splices.replace(last.item, (indent) => elementText(document.root, document.node, indent));
    return;
  }
  const container = containers.at(-1);
  if (container !== undefined) splices.append(container, (indent) => elementText(document.root, document.node, indent));
  else
    splices.insert(root, element, ROOT_ORDER, (indent) =>
      elementText(element, { kind: "list", items: [[document.root, document.node]] }, indent),
    );
}

function editElement(splices: Splices, item: XmlElement, before: FileObject, { root, node }: RootedDocument): void {
  if (!isDeepStrictEqual(before.document.node.attributes, node.attributes)) {
    const attributes = Object.entries(node.attributes).map(([key, value]) => ` ${key}="${escapeXml(value)}"`);
    splices.startTag(item, `${root}${attributes.join("")}`);
  }
  const table: Readonly<Record<string, unknown>> = CONTAINERS[kindOf(before)].roots;
  const types = table[root];
  const order = typeof types === "object" && types !== null ? Object.keys(types) : [];
  editFields(splices, item, { before: before.document.node.fields, after: node.fields, order });
}

const kindOf = ({ kind }: FileObject): keyof typeof CONTAINERS => (kind === "settings" ? "layer" : kind);

interface Fields {
  readonly before: readonly NamedNode[];
  readonly after: readonly NamedNode[];
  /** The order in which GeoWebCache writes the elements. */
  readonly order: readonly string[];
}

function editFields(splices: Splices, parent: XmlElement, { before, after, order }: Fields): void {
  const present = new Map(before);
  const rank = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length);
  // Sorted, so that new elements are inserted in the order of GeoWebCache.
  const wanted = new Map([...after].sort(([a], [b]) => rank(a) - rank(b)));
  for (const name of present.keys())
    if (!wanted.has(name)) for (const child of childrenOf(parent, name)) splices.remove(child);
  for (const [name, value] of wanted) {
    if (isDeepStrictEqual(present.get(name), value)) continue;
    const [first, ...more] = childrenOf(parent, name);
    const text = (indent: string): string => elementText(name, value, indent);
    if (first === undefined) splices.insert(parent, name, order, text);
    else splices.replace(first, text);
    for (const child of more) splices.remove(child);
  }
}

/** Returns the elements of a name, else the elements of an old file that it replaces. */
function childrenOf(parent: XmlElement, name: string): readonly XmlElement[] {
  const own = childrenNamed(parent, name);
  const old = OLD_ELEMENTS.get(name);
  return own.length > 0 || old === undefined ? own : childrenNamed(parent, old);
}
