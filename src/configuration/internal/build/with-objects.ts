import { builtInGridSetIds } from "../../../grid/built-in.ts";
import { isMap } from "../../../lib/is-map.ts";
import { LAYER_ROOTS } from "../../fields/gwc-elements.ts";
import {
  type ConfiguredObject,
  isDefaultStore,
  type ObjectKind,
  overriddenKey,
  settingsOf,
} from "../../gwc/configured-object.ts";
import { gridSetContent, layerContent } from "../../gwc/content/layer-content.ts";
import { isCiteCompliant, serviceContent } from "../../gwc/content/service-content.ts";
import { isUsable, storeContent } from "../../gwc/content/store-content.ts";
import type { Content } from "../../gwc/content.ts";
import { type MapNode, type RootedDocument, textOf } from "../../gwc/document-node.ts";
import { effectiveLayer, effectiveStore, type ReplacedVariables } from "../../gwc/effective.ts";
import { ownContent } from "../../gwc/own-document.ts";
import type { Path } from "../read/problems.ts";

export interface ObjectOptions {
  /** Variables that are replaced in documents. */
  readonly variables?: ReplacedVariables;
  /** Layers that are left out. */
  readonly notServed?: ReadonlySet<string>;
  /** The directory of GeoWebCache that the objects come from. */
  readonly directory?: string | undefined;
  /** The layer that a request changes: it may name no unknown grid set. */
  readonly changed?: string | undefined;
}

export interface WithObjects {
  readonly content: unknown;
  /** Returns the object that a path leads to; undefined: the path leads to the file's content. */
  objectAt(path: Path): ConfiguredObject | undefined;
  /** Returns the path of the file's content that a path leads to: objects may have replaced items before it. */
  inFile(path: Path): Path;
  /** The objects that replace a part of the file, by `overriddenKey`. */
  readonly overridden: ReadonlySet<string>;
  /** The store made over HTTP that layers without a store have; undefined: the first one of the file. */
  readonly defaultStore: string | undefined;
  /** True: the file has no section of stores, so there is the default store beside those made over HTTP. */
  readonly keepsDefault: boolean;
}

/** An item of a section: the file's, by its index there, or an object. */
interface Item {
  readonly value: unknown;
  readonly of: number | ConfiguredObject;
}

interface Section {
  readonly key: "gridSets" | "layers" | "stores";
  readonly kind: ObjectKind;
  readonly nameKey: "id" | "name";
  readonly contentOf: (document: RootedDocument) => Content;
  readonly isUsed: (document: RootedDocument) => boolean;
}

/**
 * Adds the objects that were made over HTTP to the content of a configuration, behind those of the file. If the file is
 * writable over HTTP, they replace the file's of the same names, and may have removed some.
 */
export function withObjects(
  content: unknown,
  objects: readonly ConfiguredObject[],
  { variables, notServed, directory, changed: changedLayer }: ObjectOptions = {},
): WithObjects {
  if (!isMap(content) || objects.length === 0) return unchanged(content);
  // A variable or a flag gives a text.
  const isWritable = isMap(content["config"]) && String(content["config"]["writable"]) === "true";
  const settings = settingsOf(objects);
  const known = new Set([
    ...builtInGridSetIds,
    ...objects.flatMap(({ kind, name, document }) => (kind === "gridSet" && document !== undefined ? [name] : [])),
  ]);
  // Looked for once for all layers: there may be thousands of each.
  const stores = objects.filter(({ kind }) => kind === "store");
  const sections: readonly Section[] = [
    { key: "gridSets", kind: "gridSet", nameKey: "id", contentOf: gridSetContent, isUsed: () => true },
    {
      key: "stores",
      kind: "store",
      nameKey: "id",
      contentOf: (document) => storeContent(effectiveStore(document, variables)),
      isUsed: isUsable,
    },
    {
      key: "layers",
      kind: "layer",
      nameKey: "name",
      contentOf: (document) => {
        if (ownContent(document) !== undefined) return layerContent(document);
        const layer = layerContent(effectiveLayer(document, settings, variables));
        return directory === undefined || layer["name"] === changedLayer ? layer : withKnownGridSets(layer, known);
      },
      isUsed: (document) => isServed(document, stores) && notServed?.has(textOf(document.node, "name") ?? "") !== true,
    },
  ];
  const merged = sections.flatMap((section) => {
    const own = objects.filter(({ kind }) => kind === section.kind);
    const before: unknown = content[section.key] ?? [];
    // A section that is no list is reported as such.
    if (own.length === 0 || !Array.isArray(before)) return [];
    const names = new Set(before.map((value: unknown) => (isMap(value) ? String(value[section.nameKey]) : "")));
    const replacing = isWritable ? own.filter(({ name }) => names.has(name)) : [];
    return [{ key: section.key, replacing, items: itemsOf(section, before, own, replacing) }];
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
    // A default store of GeoWebCache's file stands for the directory.
    keepsDefault: content["stores"] === undefined && (directory === undefined || used.length === 0),
  };
}

/** Returns the sections of the server that settings replace. */
function serverContent(content: Content, settings: MapNode | undefined): Content {
  const serviceInformation = serviceContent(settings);
  const isStrict = isCiteCompliant(settings);
  const { compat = {} } = content;
  return {
    ...(serviceInformation === undefined ? {} : { serviceInformation }),
    // A section that is no map is reported as such.
    ...(isStrict === undefined || !isMap(compat) ? {} : { compat: { ...compat, wmtsCiteCompliant: isStrict } }),
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

function itemsOf(
  { nameKey, contentOf, isUsed }: Section,
  before: readonly unknown[],
  own: readonly ConfiguredObject[],
  replacing: readonly ConfiguredObject[],
): readonly Item[] {
  const replaced = new Set(replacing.map(({ name }) => name));
  const kept = before.flatMap((value: unknown, of): Item[] =>
    isMap(value) && replaced.has(String(value[nameKey])) ? [] : [{ value, of }],
  );
  const added = own.flatMap((object): Item[] =>
    object.document === undefined || !isUsed(object.document)
      ? []
      : [{ value: contentOf(object.document), of: object }],
  );
  return [...kept, ...added];
}

/** Returns a layer without the subsets of grid sets that do not exist, as GeoWebCache starts with it. */
function withKnownGridSets(layer: Content, known: ReadonlySet<string>): Content {
  const subsets: unknown = layer["gridSubsets"];
  if (!Array.isArray(subsets)) return layer;
  const kept = subsets.filter((one: unknown) => isMap(one) && known.has(String(one["gridSet"])));
  if (kept.length > 0) return { ...layer, gridSubsets: kept };
  const { gridSubsets: _, ...rest } = layer;
  return rest;
}

/** Returns whether a layer is in the catalogue: its store can be used, if that one was made over HTTP. */
export function isServed(document: RootedDocument, objects: readonly ConfiguredObject[]): boolean {
  const own = ownContent(document);
  if (own === undefined && (document.fault !== undefined || !(document.root in LAYER_ROOTS))) return false;
  const id = own === undefined ? textOf(document.node, "blobStoreId") : own["store"];
  const store = objects.find(({ kind, name }) => kind === "store" && name === id)?.document;
  return store === undefined || isUsable(store);
}
