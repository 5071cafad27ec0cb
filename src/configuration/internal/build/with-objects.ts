import { builtInGridSetIds } from "../../../grid/built-in.ts";
import { type Content, isMap } from "../../../lib/is-map.ts";
import { type ConfiguredObject, isDefaultStore, overriddenKey, settingsOf } from "../../gwc/configured-object.ts";
import { type MapNode, type RootedDocument, textOf } from "../../gwc/document-node.ts";
import { effectiveContent, type ReplacedVariables } from "../../gwc/effective.ts";
import { isLayerRoot } from "../../gwc/layer-object.ts";
import { type ListedKind, OBJECTS } from "../../gwc/object-kinds.ts";
import { ownContent } from "../../gwc/own-document.ts";
import { compatContent, serviceContent } from "../../gwc/settings.ts";
import { isUsable } from "../../gwc/store-object.ts";
import type { Path } from "../read/problems.ts";

export interface ObjectOptions {
  /** The variables that are replaced in documents. */
  readonly variables?: ReplacedVariables;
  /** The names of layers to leave out. */
  readonly notServed?: ReadonlySet<string>;
  /** The directory of GeoWebCache that has the objects. Absent if they were made over HTTP. */
  readonly directory?: string | undefined;
  /** The name of the layer that a request changes. This layer must not name an unknown grid set. */
  readonly changed?: string | undefined;
}

export interface WithObjects {
  readonly content: unknown;
  /** Returns the object that a path leads to. Undefined if the path leads into the file's content. */
  objectAt(path: Path): ConfiguredObject | undefined;
  /**
   * Converts a path of the merged content to a path of the file's content: the objects may have shifted its indexes.
   */
  inFile(path: Path): Path;
  /** The objects that replace a part of the file, by `overriddenKey`. */
  readonly overridden: ReadonlySet<string>;
  /** The id of the default store if it was made over HTTP. Undefined if the file's first store is the default. */
  readonly defaultStore: string | undefined;
  /**
   * True if the implicit default store exists beside the stores made over HTTP, because the file has no section of
   * stores.
   */
  readonly keepsDefault: boolean;
}

/** An item of a section: its index in the file, or the object that it comes from. */
interface Item {
  readonly value: unknown;
  readonly of: number | ConfiguredObject;
}

/** The kinds of objects, in the order in which their sections are added to a content without them. */
const SECTION_ORDER = ["gridSet", "store", "layer"] as const;

/**
 * Adds the objects that were made over HTTP to the content of a configuration, after the objects of the file. If
 * requests may change the file's objects, an object replaces or removes the file's object of the same name.
 */
export function withObjects(
  content: unknown,
  objects: readonly ConfiguredObject[],
  { variables, notServed, directory, changed: changedLayer }: ObjectOptions = {},
): WithObjects {
  if (!isMap(content) || objects.length === 0) return unchanged(content);
  // The value is a text if it comes from a variable or a flag.
  const isWritable = isMap(content["config"]) && String(content["config"]["writable"]) === "true";
  const settings = settingsOf(objects);
  const known = new Set([
    ...builtInGridSetIds,
    ...objects.flatMap(({ kind, name, document }) => (kind === "gridSet" && document !== undefined ? [name] : [])),
  ]);
  // Filtered once for all layers: there may be thousands of layers and of objects.
  const stores = objects.filter(({ kind }) => kind === "store");
  const isUsed = (kind: ListedKind, document: RootedDocument): boolean => {
    if (kind === "store") return isUsable(document);
    return (
      kind === "gridSet" || (isServed(document, stores) && notServed?.has(textOf(document.node, "name") ?? "") !== true)
    );
  };
  const contentOf = (kind: ListedKind, document: RootedDocument): Content => {
    const own = effectiveContent(kind, document, settings, variables);
    const isForgiven = kind === "layer" && directory !== undefined && own["name"] !== changedLayer;
    return isForgiven && ownContent(document) === undefined ? withKnownGridSets(own, known) : own;
  };
  const merged = SECTION_ORDER.flatMap((kind) => {
    const { section: key, nameKey } = OBJECTS[kind];
    const own = objects.filter((object) => object.kind === kind);
    const before: unknown = content[key] ?? [];
    // A section that is not a list is reported when the content is read.
    if (own.length === 0 || !Array.isArray(before)) return [];
    const names = new Set(before.map((value: unknown) => (isMap(value) ? String(value[nameKey]) : "")));
    const replacing = isWritable ? own.filter(({ name }) => names.has(name)) : [];
    const replaced = new Set(replacing.map(({ name }) => name));
    const kept = before.flatMap((value: unknown, of): Item[] =>
      isMap(value) && replaced.has(String(value[nameKey])) ? [] : [{ value, of }],
    );
    const added = own.flatMap((of): Item[] =>
      of.document === undefined || !isUsed(kind, of.document) ? [] : [{ value: contentOf(kind, of.document), of }],
    );
    return [{ key, replacing, items: [...kept, ...added] }];
  });
  const itemAt = ([key, i]: Path): Item | undefined =>
    typeof i === "number" ? merged.find((section) => section.key === key)?.items[i] : undefined;
  const values = merged.map(({ key, items }) => [key, items.map(({ value }) => value)] as const);
  const changed = values.filter(([key, list]) => list.length > 0 || content[key] !== undefined);
  const used = objects.filter((one) => isDefaultStore(one) && one.document !== undefined && isUsable(one.document));
  return {
    content: { ...content, ...Object.fromEntries(changed), ...serverContent(content, settings) },
    objectAt(path) {
      const of = itemAt(path)?.of;
      return typeof of === "object" ? of : undefined;
    },
    inFile(path) {
      const of = itemAt(path)?.of;
      return typeof of === "number" ? [path[0] ?? "", of, ...path.slice(2)] : path;
    },
    overridden: new Set(merged.flatMap(({ replacing }) => replacing.map(overriddenKey))),
    defaultStore: used.at(-1)?.name,
    // A default store of GeoWebCache's file replaces the implicit store in the directory.
    keepsDefault: content["stores"] === undefined && (directory === undefined || used.length === 0),
  };
}

/** Returns the sections of the server, with the values of the settings. */
function serverContent(content: Content, settings: MapNode | undefined): Content {
  const serviceInformation = serviceContent(settings);
  const own = compatContent(settings);
  const { compat = {} } = content;
  return {
    ...(serviceInformation === undefined ? {} : { serviceInformation }),
    // A section that is not a map is reported when the content is read.
    ...(Object.keys(own).length === 0 || !isMap(compat) ? {} : { compat: { ...compat, ...own } }),
  };
}

const unchanged = (content: unknown): WithObjects => ({
  content,
  objectAt: () => undefined,
  inFile: (path) => path,
  overridden: new Set(),
  defaultStore: undefined,
  keepsDefault: false,
});

/** Returns a layer without subsets of unknown grid sets, because GeoWebCache starts with such a layer. */
function withKnownGridSets(layer: Content, known: ReadonlySet<string>): Content {
  const subsets: unknown = layer["gridSubsets"];
  if (!Array.isArray(subsets)) return layer;
  const kept = subsets.filter((one: unknown) => isMap(one) && known.has(String(one["gridSet"])));
  if (kept.length > 0) return { ...layer, gridSubsets: kept };
  const { gridSubsets: _, ...rest } = layer;
  return rest;
}

/** Returns whether a layer is served: if its store was made over HTTP, the store must be usable. */
export function isServed(document: RootedDocument, objects: readonly ConfiguredObject[]): boolean {
  const own = ownContent(document);
  if (own === undefined && (document.fault !== undefined || !isLayerRoot(document.root))) return false;
  const id = own === undefined ? textOf(document.node, "blobStoreId") : own["store"];
  const store = objects.find(({ kind, name }) => kind === "store" && name === id)?.document;
  return store === undefined || isUsable(store);
}
