import { Document, isMap, isSeq } from "yaml";
import { type ConfiguredObject, isDefaultStore, settingsOf } from "../../gwc/configured-object.ts";
import type { Content } from "../../gwc/content.ts";
import { effectiveLayer } from "../../gwc/effective.ts";
import { LAYER_ROOTS } from "../../gwc/field-types.ts";
import { type ElementReport, elementReports } from "../../gwc/honoured.ts";
import { gridSetContent, layerContent } from "../../gwc/layer-content.ts";
import { ownContent } from "../../gwc/own-document.ts";
import { isUsable, storeContent } from "../../gwc/store-content.ts";
import { isMap as isRecord } from "../../lib/is-map.ts";
import { MASKED, secretPartAt } from "../../lib/masked.ts";
import type { GeoWebCacheSource } from "./geowebcache-source.ts";

export interface WrittenYaml {
  readonly text: string;
  /** The variables that hold secrets. */
  readonly variables: readonly string[];
}

/** A section of the configuration file, and the objects that its items come from. */
interface Section {
  readonly key: string;
  readonly items: readonly { readonly content: Content; readonly object: ConfiguredObject | undefined }[];
}

/** Returns a configuration of GeoWebCache as a configuration file, with a comment for what has no effect. */
export function yamlOf(source: GeoWebCacheSource): WrittenYaml {
  const { objects, users, quota } = source;
  const variables = new Set<string>();
  const reports = elementReports(objects);
  const sections = [
    { key: "stores", items: storeItems(source) },
    { key: "gridSets", items: itemsOf(objects, "gridSet", gridSetContent) },
    { key: "layers", items: layerItems(objects) },
  ].map(
    ({ key, items }): Section => ({
      key,
      items: items.map(({ content, object }) => ({
        object,
        content: withVariables(content, object?.name ?? "", variables),
      })),
    }),
  );
  const filled = sections.filter(({ key, items }) => key === "layers" || items.length > 0);
  const document = new Document(
    {
      ...(users.length === 0
        ? {}
        : { users: users.map(({ name, passwordHash, roles }) => ({ name, passwordHash, roles })) }),
      ...Object.fromEntries(filled.map(({ key, items }) => [key, items.map(({ content }) => content)])),
      ...(quota === undefined ? {} : { diskQuota: quota }),
    },
    { aliasDuplicateObjects: false },
  );
  for (const section of filled) addComments(document, section, reports);
  const left = leftOut(objects);
  document.commentBefore = [
    " Written by Nuthatch from a configuration of GeoWebCache.",
    ...left.map((line) => ` ${line}`),
  ].join("\n");
  return { text: document.toString({ lineWidth: 0 }), variables: [...variables] };
}

function itemsOf(
  objects: readonly ConfiguredObject[],
  kind: ConfiguredObject["kind"],
  contentOf: (document: NonNullable<ConfiguredObject["document"]>) => Content,
): Section["items"] {
  return objects.flatMap((object) =>
    object.kind === kind && object.document !== undefined ? [{ object, content: contentOf(object.document) }] : [],
  );
}

/** The default store comes first: the directory itself if no store is the default. */
function storeItems({ objects, directory }: GeoWebCacheSource): Section["items"] {
  const usable = objects.filter(
    ({ kind, document }) => kind === "store" && document !== undefined && isUsable(document),
  );
  const first = usable.findLast(isDefaultStore);
  const others = itemsOf(
    usable.filter((object) => object !== first),
    "store",
    storeContent,
  );
  if (first !== undefined) return [...itemsOf([first], "store", storeContent), ...others];
  if (directory === undefined) return others;
  return [
    { object: undefined, content: { type: "file", id: "geowebcache", path: directory, layout: "gwc" } },
    ...others,
  ];
}

function layerItems(objects: readonly ConfiguredObject[]): Section["items"] {
  const settings = settingsOf(objects);
  const served = objects.filter(
    ({ kind, document }) => kind === "layer" && document !== undefined && isServed(document),
  );
  return itemsOf(served, "layer", (document) =>
    layerContent(ownContent(document) === undefined ? effectiveLayer(document, settings, undefined) : document),
  );
}

const isServed = (document: NonNullable<ConfiguredObject["document"]>): boolean =>
  document.root in LAYER_ROOTS || ownContent(document) !== undefined;

/** Returns what is left out, a line each. */
const leftOut = (objects: readonly ConfiguredObject[]): readonly string[] =>
  objects.flatMap(({ kind, name, document }) => {
    if (document === undefined) return [];
    if (kind === "layer" && !isServed(document)) return [`Left out: the layer ${name}, of the kind ${document.root}.`];
    if (kind === "store" && !isUsable(document))
      return [`Left out: the store ${name} of the kind ${document.root}, which is not used.`];
    return [];
  });

/** Returns the name of a variable for a secret of an object. */
export const variableOf = (key: string, name: string): string =>
  `${key.replace(/([A-Z])/g, "_$1")}_${name}`.toUpperCase().replace(/[^A-Z0-9]+/g, "_");

/** Replaces secrets by variables: a file with passwords must not end up in a repository. */
function withVariables(content: Content, name: string, variables: Set<string>): Content {
  return Object.fromEntries(
    Object.entries(content).map(([key, value]): [string, unknown] => {
      if (isRecord(value)) return [key, withVariables(value, name, variables)];
      if (Array.isArray(value))
        return [key, value.map((item: unknown) => (isRecord(item) ? withVariables(item, name, variables) : item))];
      // The name of a user stays readable beside the variable of its password.
      const isSecret = secretPartAt([key]) === "value" && key !== "username" && typeof value === "string";
      if (!isSecret && value !== MASKED) return [key, value];
      const variable = variableOf(key, name);
      variables.add(variable);
      return [key, `\${${variable}}`];
    }),
  );
}

function addComments(document: Document, { key, items }: Section, reports: readonly ElementReport[]): void {
  const list = document.get(key);
  if (!isSeq(list)) return;
  for (const [i, { object }] of items.entries()) {
    const item = list.items[i];
    const own = reports.filter(({ kind, name }) => kind === object?.kind && name === object.name);
    const kept = own.filter(({ outcome }) => outcome === "kept").map(({ path }) => path);
    const others = own.flatMap(({ path, how }) => (how === undefined ? [] : [` ${path}: ${how}.`]));
    const lines = [...(kept.length === 0 ? [] : [` No effect: ${kept.join(", ")}.`]), ...others];
    if (isMap(item) && lines.length > 0) item.commentBefore = lines.join("\n");
  }
}
