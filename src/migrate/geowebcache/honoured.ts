import { isDeepStrictEqual } from "node:util";
import { FILE_SETTINGS_ELEMENTS } from "../../configuration/fields/elements/settings-elements.ts";
import type { ConfiguredObject } from "../../configuration/gwc/configured-object.ts";
import {
  type DocumentNode,
  double,
  fieldOf,
  type MapNode,
  type NamedNode,
  type RootedDocument,
} from "../../configuration/gwc/document-node.ts";
import { effectiveContent } from "../../configuration/gwc/effective.ts";
import { differenceIn } from "../../configuration/gwc/element.ts";
import { formatsLeftOut } from "../../configuration/gwc/layer-fault.ts";
import { isLayerRoot } from "../../configuration/gwc/layer-object.ts";
import { OBJECTS } from "../../configuration/gwc/object-kinds.ts";
import { KIND_NAMES } from "../../configuration/gwc/object-origin.ts";
import { ownContent } from "../../configuration/gwc/own-document.ts";
import { serverContent } from "../../configuration/gwc/settings.ts";
import { isUsable } from "../../configuration/gwc/store-object.ts";
import type { Content } from "../../lib/is-map.ts";
import type { ReportedElement } from "../element-report.ts";

/** How Nuthatch uses an element of GeoWebCache's configuration. */
export interface ElementReport extends ReportedElement {
  readonly kind: ConfiguredObject["kind"];
  readonly name: string;
}

/** Returns how the use of an element differs from GeoWebCache's. Undefined if it does not differ. */
const differenceAt = (kind: ConfiguredObject["kind"], root: string, path: string): string | undefined =>
  differenceIn(kind === "settings" ? FILE_SETTINGS_ELEMENTS : (OBJECTS[kind].tables[root] ?? {}), path);

/** Elements by which an object is identified or enabled. */
const ALWAYS: ReadonlySet<string> = new Set(["name", "id", "enabled", "wmsLayer", "transientLayer"]);

/**
 * Reports each element of a configuration. An element is taken over if another value of it would translate to another
 * configuration, so the report always agrees with the translation.
 */
export function elementReports(objects: readonly ConfiguredObject[]): readonly ElementReport[] {
  const probe = probeOf(objects);
  return objects.flatMap((object) =>
    object.document === undefined || ownContent(object.document) !== undefined
      ? []
      : reportsOf(object, object.document, probe),
  );
}

function reportsOf(
  { kind, name }: Pick<ConfiguredObject, "kind" | "name">,
  document: RootedDocument,
  probe: RootedDocument | undefined,
): readonly ElementReport[] {
  const contentOf = (of: ConfiguredObject["kind"], one: RootedDocument): Content | undefined =>
    translated(of, one, probe);
  const before = contentOf(kind, document);
  const paths = new Map<string, boolean>();
  for (const [path, changed] of changesOf(document.node, "")) {
    const isUsed = !isDeepStrictEqual(contentOf(kind, { root: document.root, node: changed }), before);
    paths.set(path, isUsed || paths.get(path) === true);
  }
  return [...paths].map(([path, isUsed]): ElementReport => {
    const own = { kind, name, title: kind === "settings" ? kind : `${KIND_NAMES[kind]} ${name}`, path };
    const how = isPlain(path, document)
      ? undefined
      : (differenceAt(kind, document.root, path) ?? formatsHow(path, document));
    if (how !== undefined) return { ...own, outcome: "differently", how };
    const isTaken = isUsed || (ALWAYS.has(path) && !isKept(kind, document));
    return { ...own, outcome: isTaken ? "taken over" : "kept" };
  });
}

/**
 * Returns whether an element whose use differs means the same as in GeoWebCache here: a single address has no order.
 */
const isPlain = (path: string, { node }: RootedDocument): boolean => {
  const value = path === "wmsUrl" ? node.fields.find(([name]) => name === path)?.[1] : undefined;
  return typeof value === "object" && value.kind === "list" && value.items.length < 2;
};

function formatsHow(path: string, document: RootedDocument): string | undefined {
  const formats = path === "mimeFormats" ? formatsLeftOut(document) : [];
  return formats.length === 0 ? undefined : `without ${formats.join(", ")}`;
}

/** Returns whether no part of an object is used. */
const isKept = (kind: ConfiguredObject["kind"], { root, node, fault }: RootedDocument): boolean =>
  (kind === "store" && !isUsable({ root, node })) || (kind === "layer" && (fault !== undefined || !isLayerRoot(root)));

/**
 * Returns a layer that represents all layers that inherit from the settings: it has those fields that every such layer
 * has. Undefined if there is no such layer; the settings then have no effect.
 */
function probeOf(objects: readonly ConfiguredObject[]): RootedDocument | undefined {
  const layers = objects.flatMap(({ kind, document }) =>
    kind === "layer" && document?.root === "wmsLayer" && !isKept(kind, document) ? [document] : [],
  );
  const [first] = layers;
  if (first === undefined) return undefined;
  const names = first.node.fields.filter(
    ([name]) => name === "wmsUrl" || layers.every(({ node }) => fieldOf(node, name) !== undefined),
  );
  return { root: first.root, node: { ...first.node, fields: names } };
}

function translated(
  kind: ConfiguredObject["kind"],
  document: RootedDocument,
  probe: RootedDocument | undefined,
): Content | undefined {
  if (isKept(kind, document)) return undefined;
  if (kind !== "settings") return OBJECTS[kind].contentOf(document);
  return {
    ...serverContent(document.node),
    layer: probe && effectiveContent("layer", probe, document.node, undefined),
  };
}

/** Yields the path of each element of a document, and the document with another value of this element. */
export function* changesOf(node: MapNode, at: string): Generator<readonly [path: string, changed: MapNode]> {
  for (const [name, value] of Object.entries(node.attributes))
    yield [join(at, `@${name}`), { ...node, attributes: { ...node.attributes, [name]: another(value) } }];
  for (const [i, [name, value]] of node.fields.entries())
    for (const [path, changed] of valuesOf(value, join(at, name)))
      yield [path, { ...node, fields: node.fields.with(i, [name, changed]) }];
}

function* valuesOf(value: DocumentNode, path: string): Generator<readonly [path: string, changed: DocumentNode]> {
  if (typeof value === "string") yield [path, another(value)];
  else if (typeof value === "number" || typeof value === "bigint") yield [path, Number(value) + 1];
  else if (typeof value === "boolean") yield [path, !value];
  else if (value.kind === "double") yield [path, double(value.value + 1)];
  else if (value.kind === "map") {
    if (value.fields.length === 0 && Object.keys(value.attributes).length === 0) yield [path, "probe"];
    yield* changesOf(value, path);
  } else yield* itemsOf(value, path);
}

function* itemsOf(
  value: Extract<DocumentNode, { readonly kind: "list" | "repeated" }>,
  path: string,
): Generator<readonly [path: string, changed: DocumentNode]> {
  if (value.items.length === 0) yield [path, value];
  if (value.kind === "repeated") {
    for (const [i, item] of value.items.entries())
      for (const [inner, changed] of valuesOf(item, path))
        yield [inner, { ...value, items: value.items.with(i, changed) }];
    return;
  }
  for (const [i, [name, item]] of value.items.entries()) {
    // Items without child elements have the path of the list.
    const at = typeof item === "object" && item.kind === "map" ? join(path, name) : path;
    for (const [inner, changed] of valuesOf(item, at)) {
      const items: readonly NamedNode[] = value.items.with(i, [name, changed]);
      yield [inner, { ...value, items }];
    }
  }
}

/** Returns a different text of the same form: a number stays a number. */
function another(text: string): string {
  if (/^-?\d+$/.test(text)) return String(Number(text) + 1);
  // A source distinguishes WMS versions only here.
  if (/^1\.[01]\.\d$/.test(text)) return "1.3.0";
  return text === "true" ? "false" : `${text}x`;
}

const join = (at: string, name: string): string => (at === "" ? name : `${at}.${name}`);
