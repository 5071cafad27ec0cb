import { isDeepStrictEqual } from "node:util";
import { escapeXml } from "../../lib/text/escape.ts";
import { childrenNamed, parseXml, type XmlElement } from "../../lib/text/xml-element.ts";
import { elementText } from "../gwc/codec/encode-document.ts";
import type { ObjectChange } from "../gwc/configured-object.ts";
import type { NamedNode, RootedDocument } from "../gwc/document-node.ts";
import { type ListedKind, OBJECTS } from "../gwc/object-kinds.ts";
import { type FileContent, type FileObject, RENAMED } from "./read-file.ts";
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

/** The old elements that files may still have, by the element that has replaced them. */
const OLD_ELEMENTS: ReadonlyMap<string, string> = new Map([["gridSubsets", "grids"]]);

/**
 * Returns the text of a file with the changes. Leaves all other text unchanged: comments, unknown elements, white
 * space. A changed object gets new elements only for values that differ.
 */
export function editFile({ text, objects }: FileContent, changes: readonly ObjectChange[]): string {
  const root = rootOf(text);
  const splices = new Splices(text);
  for (const { kind, name, document } of changes) {
    const own = objects.filter((object) => object.kind === kind && object.name === name);
    if (kind === "settings") editSettings(splices, root, own, document);
    else editObject(splices, root, own, kind, document);
  }
  return splices.result();
}

/** GeoWebCache writes `version` at its next start. `identifier` and `location` follow from the file's path. */
const NOT_WRITTEN: ReadonlySet<string> = new Set(["version", "identifier", "location"]);

/** @throws Error if the text, which was parsed before, is not XML */
function rootOf(text: string): XmlElement {
  const root = parseXml(text);
  if (!root.ok) throw new Error(`the file is no XML: ${root.error}`);
  return root.value;
}

/** Changes the child elements of the root that are settings. */
function editSettings(
  splices: Splices,
  root: XmlElement,
  [before]: readonly FileObject[],
  after: RootedDocument | undefined,
): void {
  if (before === undefined || after === undefined) return;
  editFields(splices, root, {
    before: settingsInFile(before.document),
    after: settingsInFile(after).filter(([name]) => !NOT_WRITTEN.has(name)),
    order: ROOT_ORDER,
  });
}

/** Returns settings under the names that the file has for them. */
function settingsInFile({ node }: RootedDocument): readonly NamedNode[] {
  const inFile = new Map([...RENAMED].map(([name, renamed]) => [renamed, name]));
  return node.fields.map(([name, value]) => [inFile.get(name) ?? name, value]);
}

/**
 * Changes, adds or removes an object that has its own element.
 * @param own the objects of this name in the file; if the file repeats the name, the last one is in force
 * @param after the new document; undefined to remove the object
 */
function editObject(
  splices: Splices,
  root: XmlElement,
  own: readonly FileObject[],
  kind: ListedKind,
  after: RootedDocument | undefined,
): void {
  const containers = childrenNamed(root, OBJECTS[kind].container);
  const items = containers.flatMap(({ children }) => children);
  const found = own.flatMap(({ document, start }) => {
    const item = items.find((one) => one.start === start);
    return item === undefined ? [] : [{ document, item }];
  });
  const last = found.at(-1);
  // Removes every object of the name. Otherwise an earlier object of the name would be in force.
  if (after === undefined) for (const { item } of found) splices.remove(item);
  else if (last === undefined) addObject(splices, root, containers.at(-1), kind, after);
  else if (last.document.root === after.root) editElement(splices, last.item, kind, last.document, after);
  else splices.replace(last.item, (indent) => elementText(after.root, after.node, indent));
}

/**
 * Adds an object after the objects of its kind. `container` is the element around these objects; undefined if the file
 * lacks it.
 */
function addObject(
  splices: Splices,
  root: XmlElement,
  container: XmlElement | undefined,
  kind: ListedKind,
  { root: name, node }: RootedDocument,
): void {
  if (container !== undefined) {
    splices.append(container, (indent) => elementText(name, node, indent));
    return;
  }
  const { container: element } = OBJECTS[kind];
  splices.insert(root, element, ROOT_ORDER, (indent) =>
    elementText(element, { kind: "list", items: [[name, node]] }, indent),
  );
}

/** Changes the attributes and the child elements of an object's element. */
function editElement(
  splices: Splices,
  item: XmlElement,
  kind: ListedKind,
  before: RootedDocument,
  after: RootedDocument,
): void {
  const { attributes } = after.node;
  if (!isDeepStrictEqual(before.node.attributes, attributes)) {
    const texts = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeXml(value)}"`);
    splices.startTag(item, `${after.root}${texts.join("")}`);
  }
  const order = Object.keys(OBJECTS[kind].roots[after.root]?.map ?? {});
  editFields(splices, item, { before: before.node.fields, after: after.node.fields, order });
}

/** The fields of an element before and after a change. */
interface Fields {
  readonly before: readonly NamedNode[];
  readonly after: readonly NamedNode[];
  /** The order in which GeoWebCache writes the elements. */
  readonly order: readonly string[];
}

/**
 * Changes the child elements of an element: removes elements whose field is gone, and writes fields whose value
 * differs.
 */
function editFields(splices: Splices, parent: XmlElement, { before, after, order }: Fields): void {
  const present = new Map(before);
  const rank = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length);
  // Sorted, so that new elements are inserted in GeoWebCache's order.
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

/** Returns the child elements of a name. Without any, returns the elements of the old name. */
function childrenOf(parent: XmlElement, name: string): readonly XmlElement[] {
  const own = childrenNamed(parent, name);
  const old = OLD_ELEMENTS.get(name);
  return own.length > 0 || old === undefined ? own : childrenNamed(parent, old);
}
