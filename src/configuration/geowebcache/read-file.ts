import { decodeText, placeOf } from "../../body/body-text.ts";
import type { Field } from "../../body/field.ts";
import { readXml } from "../../body/xml-reader.ts";
import type { Refusal } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { decodeField, decodeTolerantly } from "../gwc/codec/decode-document.ts";
import { type ConfiguredObject, isDefaultStore, overriddenKey, SETTINGS } from "../gwc/configured-object.ts";
import { type RootedDocument, textOf } from "../gwc/document-node.ts";
import { expiryWarnings, formatsLeftOut } from "../gwc/layer-fault.ts";
import { type ListedKind, OBJECTS } from "../gwc/object-kinds.ts";
import { KIND_NAMES } from "../gwc/object-origin.ts";
import { FILE_ROOTS } from "../gwc/settings.ts";
import { isStoreEnabled } from "../gwc/store-object.ts";
import { upgraded } from "./upgrade.ts";

/** The settings that have another name in a file, by their name in a document. */
export const RENAMED: ReadonlyMap<string, string> = new Map([["runtimeStats", "runtimeStatsEnabled"]]);

/** An object of the file, and its position. */
export interface FileObject extends ConfiguredObject {
  readonly document: RootedDocument;
  /**
   * The indexes of the beginning of the element and of its end. Undefined if the object has no element: settings, and
   * grid sets that layers of old files define.
   */
  readonly start: number | undefined;
  readonly end: number | undefined;
  readonly line: number;
}

/** The content of a `geowebcache.xml`. */
export interface FileContent {
  readonly text: string;
  /** The objects in the order of the file. An object that the file repeats is repeated here. */
  readonly objects: readonly FileObject[];
  /** A sentence for each element that is stored but has no effect. */
  readonly notes: readonly string[];
}

/** The names of archives by `tilesPath`, or the reason why an archive has no name. */
export type ArchiveNames = ReadonlyMap<string, Result<string, string>>;
const NO_NAMES: ArchiveNames = new Map();

const MOST_ELEMENTS = 5_000_000;

const malformed = (message: string): Result<never, Refusal> => refuse({ code: "malformed", message });

/**
 * Reads a `geowebcache.xml` of any schema version as GeoWebCache does: accepts elements in any order and keeps unknown
 * ones. A layer that cannot be read gets a fault and does not affect other layers. A wrong grid set or store is
 * refused, as GeoWebCache does not start with it.
 * @param names the names of archives by their `tilesPath`, for layers without a name
 */
export function readFile(bytes: Uint8Array, names: ArchiveNames = NO_NAMES): Result<FileContent, Refusal> {
  const decoded = decodeText(bytes);
  return decoded.ok ? readText(decoded.value, names) : malformed(`${decoded.error.reason}${placeOf(decoded.error)}`);
}

/** Reads the text of a `geowebcache.xml`. Ignores the encoding that its declaration names. */
export function readText(text: string, names: ArchiveNames = NO_NAMES): Result<FileContent, Refusal> {
  const read = readXml(text, "read", MOST_ELEMENTS);
  if (!read.ok) return malformed(`${read.error.reason}${placeOf(read.error)}`);
  const root = read.value;
  if (root.name !== "gwcConfiguration")
    return malformed(`this is no geowebcache.xml: expected the root gwcConfiguration, got ${root.name}`);
  const version = schemaVersion(text);
  if (version === undefined)
    return malformed(
      'this is no geowebcache.xml: gwcConfiguration has no namespace: expected xmlns="http://geowebcache.org/schema/2.0.0"',
    );
  const { root: current, gridSets, notes } = upgraded(root, version);
  return contentOf(text, current, gridSets, notes, names);
}

/** Returns the version in the root's namespace. Undefined if it has no version. */
function schemaVersion(text: string): string | undefined {
  const tag = /<(?:\w+:)?gwcConfiguration\b[^>]*>/.exec(text)?.[0] ?? "";
  return /xmlns(?::\w+)?\s*=\s*["']https?:\/\/(?:www\.)?geowebcache\.org\/schema\/([^"'/]+)\/?["']/.exec(tag)?.[1];
}

/**
 * Returns the content of a file with the elements of the present schema.
 * @param implied the grid sets that layers of old files define
 */
function contentOf(
  text: string,
  root: Field,
  implied: readonly Field[],
  ofUpgrade: readonly string[],
  names: ArchiveNames,
): Result<FileContent, Refusal> {
  const settings = settingsOf(root);
  if (!settings.ok) return settings;
  const objects = [settings.value];
  const notes = [...ofUpgrade];
  for (const kind of ["store", "gridSet", "layer"] as const) {
    const { container: element } = OBJECTS[kind];
    const items = root.children.filter(({ name }) => name === element).flatMap(({ children }) => children);
    for (const [index, item] of [...items, ...(kind === "gridSet" ? implied : [])].entries()) {
      const object = kind === "layer" ? ok(layerOf(item, names)) : objectOf(kind, item, index);
      if (!object.ok) return object;
      objects.push(object.value);
      if (kind === "layer") notes.push(...notesOfLayer(object.value));
    }
  }
  const fault = faultOfObjects(objects, implied);
  return fault === undefined ? ok({ text, objects, notes }) : malformed(fault);
}

/** Returns why GeoWebCache would not start with the stores and grid sets of a file. Undefined if it would. */
function faultOfObjects(objects: readonly FileObject[], implied: readonly Field[]): string | undefined {
  const lines = new Map<string, number>();
  const ofLayers = new Set(implied.map(({ line }) => line));
  for (const object of objects) {
    const { kind, name, line, start } = object;
    if ((kind !== "store" && kind !== "gridSet") || (kind === "gridSet" && start === undefined && ofLayers.has(line)))
      continue;
    const first = lines.get(overriddenKey(object));
    if (first !== undefined)
      return `${OBJECTS[kind].container}: the ${KIND_NAMES[kind]} ${name} stands twice, in line ${first} and in line ${line}`;
    lines.set(overriddenKey(object), line);
  }
  const [standard, second] = objects.filter(isDefaultStore);
  if (standard !== undefined && second !== undefined)
    return `blobStores: two stores are the default one, ${standard.name} in line ${standard.line} and ${second.name} in line ${second.line}`;
  return standard === undefined || isStoreEnabled(standard.document.node)
    ? undefined
    : `blobStores: the default store ${standard.name} in line ${standard.line} is not enabled`;
}

const CONTAINER_NAMES: ReadonlySet<string> = new Set(Object.values(OBJECTS).map(({ container }) => container));

/** Returns the settings: all child elements of the root that do not contain objects. */
function settingsOf(root: Field): Result<FileObject, Refusal> {
  const children = root.children
    .filter(({ name }) => !name.startsWith("@") && !CONTAINER_NAMES.has(name) && name !== "version")
    .map((field) => ({ ...field, name: RENAMED.get(field.name) ?? field.name }));
  const document = decodeField({ ...root, name: SETTINGS, children }, { what: "the settings", roots: FILE_ROOTS });
  if (!document.ok) return document;
  const place = { start: undefined, end: undefined, line: root.line };
  return ok({ kind: "settings", name: SETTINGS, document: document.value, ...place });
}

/** Returns the grid set or the store of an element. `index` is the number of preceding elements of its kind. */
function objectOf(kind: Exclude<ListedKind, "layer">, item: Field, index: number): Result<FileObject, Refusal> {
  const { container: element, roots, nameField } = OBJECTS[kind];
  if (!(item.name in roots)) return malformed(unknownKind(kind, item));
  const document = decodeField(item, { what: element, roots });
  if (!document.ok) return document;
  const name = textOf(document.value.node, nameField) ?? "";
  if (name === "") return malformed(`${element}[${index}].${nameField}: expected a name${placeOf(item)}`);
  // An implied grid set has no position in the file.
  const { start, end, line } = item;
  return ok({ kind, name, document: document.value, start, end, line });
}

function unknownKind(kind: ListedKind, item: Field): string {
  const { container: element, roots } = OBJECTS[kind];
  return `${element}: expected ${Object.keys(roots).join(", ")}, got ${item.name}${placeOf(item)}`;
}

/**
 * Returns the layer of an element. A layer with a fault is included, so that a change of the file leaves its text
 * unchanged.
 */
function layerOf(item: Field, names: ArchiveNames): FileObject {
  const { container: element, roots, nameField } = OBJECTS.layer;
  const { start, end, line } = item;
  const decoded = decodeTolerantly(item, { what: element, roots });
  const given = textOf(decoded.node, nameField) ?? "";
  const ofArchive = decoded.root === "mbtilesLayer" ? names.get(textOf(decoded.node, "tilesPath") ?? "") : undefined;
  const name = given === "" && ofArchive?.ok === true ? ofArchive.value : given;
  const unknown = item.name in roots ? undefined : unknownKind("layer", item);
  const fault = unknown ?? decoded.fault ?? (name === "" ? namelessFault(ofArchive) : undefined);
  const { root, node } = decoded;
  const fields = node.fields.filter(([key]) => key !== nameField);
  const named = given === name ? node : { ...node, fields: [[nameField, name] as const, ...fields] };
  const document = { root, node: named, ...(fault === undefined ? {} : { fault }) };
  return { kind: "layer", name, document, start, end, line };
}

const namelessFault = (ofArchive: Result<string, string> | undefined): string =>
  `${OBJECTS.layer.nameField}: expected a name${ofArchive?.ok === false ? `: ${ofArchive.error}` : ""}`;

/** Returns the `tilesPath` of each archive layer without a name: GeoWebCache names it after the archive. */
export const namelessArchives = ({ objects }: FileContent): readonly string[] =>
  objects.flatMap(({ kind, name, document: { root, node } }) =>
    kind === "layer" && name === "" && root === "mbtilesLayer" ? [textOf(node, "tilesPath") ?? ""] : [],
  );

function notesOfLayer({ name, document, line }: FileObject): readonly string[] {
  const { fault } = document;
  if (fault !== undefined)
    return [`line ${line}: not served: ${name === "" ? `a ${document.root}` : `the layer ${name}`}: ${fault}`];
  const formats = formatsLeftOut(document);
  return [
    ...(formats.length > 0 ? [`line ${line}: the layer ${name} is without ${formats.join(", ")}`] : []),
    ...expiryWarnings(document).map((warning) => `line ${line}: the layer ${name}: ${warning}`),
  ];
}

/**
 * Returns the objects in force. If the file repeats a name, the last object is in force, as in GeoWebCache. Leaves out
 * layers without a name.
 */
export function inForce(objects: readonly FileObject[]): readonly ConfiguredObject[] {
  const named = objects.filter(({ name }) => name !== "");
  const last = new Map(named.map((object) => [`${object.kind} ${object.name}`, object]));
  return [...last.values()].map(({ kind, name, document }) => ({ kind, name, document }));
}
