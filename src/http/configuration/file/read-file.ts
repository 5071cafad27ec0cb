import { type ConfiguredObject, type ObjectKind, SETTINGS } from "../../../gwc/configured-object.ts";
import { type RootedDocument, textOf } from "../../../gwc/document-node.ts";
import { FILE_SETTINGS, type FieldTypes, GRID_SET_ROOTS, LAYER_ROOTS } from "../../../gwc/field-types.ts";
import { formatsLeftOut } from "../../../gwc/layer-content.ts";
import { BLOB_STORE_ROOTS } from "../../../gwc/store-field-types.ts";
import type { Refusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { decodeText, placeOf } from "../../body/body-text.ts";
import type { Field } from "../../body/field.ts";
import { readXml } from "../../body/xml-reader.ts";
import { decodeField } from "../decode-document.ts";
import { upgraded } from "./upgrade.ts";

/** The elements of a file, by their object's kind. */
export const CONTAINERS = {
  store: { element: "blobStores", roots: BLOB_STORE_ROOTS, nameField: "id" },
  gridSet: { element: "gridSets", roots: GRID_SET_ROOTS, nameField: "name" },
  layer: { element: "layers", roots: LAYER_ROOTS, nameField: "name" },
} as const satisfies Readonly<
  Record<
    Exclude<ObjectKind, "settings">,
    { readonly element: string; readonly roots: Readonly<Record<string, FieldTypes>>; readonly nameField: string }
  >
>;

/** The elements of the settings whose names in a file are others. */
export const RENAMED: ReadonlyMap<string, string> = new Map([["runtimeStats", "runtimeStatsEnabled"]]);

/** An object of the file, and where it stands. */
export interface FileObject extends ConfiguredObject {
  readonly document: RootedDocument;
  /**
   * Where its element begins in the text, and the index behind it. Undefined: it has no element of its own, as the
   * settings and the grid sets that layers of old files define.
   */
  readonly start: number | undefined;
  readonly end: number | undefined;
  readonly line: number;
}

/** The content of a `geowebcache.xml`. */
export interface FileContent {
  readonly text: string;
  /** In the order of the file; an object that stands twice is there twice. */
  readonly objects: readonly FileObject[];
  /** A line for each element that was kept and has no effect. */
  readonly notes: readonly string[];
}

const MOST_ELEMENTS = 5_000_000;
const STORE_DEFAULT = ["default"];

const malformed = (message: string): Result<never, Refusal> => refuse({ code: "malformed", message });

/** Reads a `geowebcache.xml` of any version of the schema, as GeoWebCache does: elements in any order, unknown ones kept. */
export function readFile(bytes: Uint8Array): Result<FileContent, Refusal> {
  const decoded = decodeText(bytes);
  return decoded.ok ? readText(decoded.value) : malformed(`${decoded.error.reason}${placeOf(decoded.error)}`);
}

/** Reads the text of a `geowebcache.xml`, whatever encoding its declaration names. */
export function readText(text: string): Result<FileContent, Refusal> {
  const read = readXml(text, "read", MOST_ELEMENTS);
  if (!read.ok) return malformed(`${read.error.reason}${placeOf(read.error)}`);
  const root = read.value;
  if (root.name !== "gwcConfiguration") return malformed(`expected the root gwcConfiguration, got ${root.name}`);
  const version = schemaVersion(text);
  if (version === undefined)
    return malformed('gwcConfiguration has no namespace: expected xmlns="http://geowebcache.org/schema/2.0.0"');
  const { root: current, gridSets, notes } = upgraded(root, version);
  return contentOf(text, current, gridSets, notes);
}

/** Returns the version in the namespace of the root. */
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
): Result<FileContent, Refusal> {
  const settings = settingsOf(root);
  if (!settings.ok) return settings;
  const objects = [settings.value];
  const notes = [...ofUpgrade];
  for (const kind of ["store", "gridSet", "layer"] as const) {
    const { element } = CONTAINERS[kind];
    const items = root.children.filter(({ name }) => name === element).flatMap(({ children }) => children);
    for (const [index, item] of [...items, ...(kind === "gridSet" ? implied : [])].entries()) {
      const object = objectOf(kind, item, index);
      if (!object.ok) return object;
      objects.push(object.value);
      if (kind === "layer") notes.push(...notesOfLayer(object.value));
    }
  }
  return ok({ text, objects, notes });
}

const CONTAINER_NAMES: ReadonlySet<string> = new Set(Object.values(CONTAINERS).map(({ element }) => element));

/** Returns the settings: the children of the root that contain no objects. */
function settingsOf(root: Field): Result<FileObject, Refusal> {
  const children = root.children
    .filter(({ name }) => !name.startsWith("@") && !CONTAINER_NAMES.has(name) && name !== "version")
    .map((field) => ({ ...field, name: RENAMED.get(field.name) ?? field.name }));
  const document = decodeField(
    { ...root, name: SETTINGS, children },
    { what: "the settings", roots: { [SETTINGS]: FILE_SETTINGS } },
  );
  if (!document.ok) return document;
  const place = { start: undefined, end: undefined, line: root.line };
  return ok({ kind: "settings", name: SETTINGS, document: document.value, ...place });
}

/** Returns the object of an element. `index`: the number of elements of its kind before it. */
function objectOf(kind: keyof typeof CONTAINERS, item: Field, index: number): Result<FileObject, Refusal> {
  const { element, roots, nameField } = CONTAINERS[kind];
  if (!(item.name in roots)) {
    const known = Object.keys(roots).join(", ");
    return malformed(`${element}: expected ${known}, got ${item.name}${placeOf(item)}`);
  }
  const attributes = kind === "store" ? STORE_DEFAULT : [];
  const document = decodeField(item, { what: element, roots, attributes });
  if (!document.ok) return document;
  const name = textOf(document.value.node, nameField) ?? "";
  if (name === "") return malformed(`${element}[${index}].${nameField}: expected a name${placeOf(item)}`);
  // An implied grid set has no place.
  const { start, end, line } = item;
  return ok({ kind, name, document: document.value, start, end, line });
}

function notesOfLayer({ name, document, line }: FileObject): readonly string[] {
  const formats = formatsLeftOut(document);
  return formats.length > 0 ? [`line ${line}: the layer ${name} is without ${formats.join(", ")}`] : [];
}

/** Returns the objects in force: of two with one name the last one, as in GeoWebCache. */
export function inForce(objects: readonly FileObject[]): readonly ConfiguredObject[] {
  const last = new Map(objects.map((object) => [`${object.kind} ${object.name}`, object]));
  return [...last.values()].map(({ kind, name, document }) => ({ kind, name, document }));
}
