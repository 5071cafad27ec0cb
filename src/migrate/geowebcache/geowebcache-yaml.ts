import { resolve } from "node:path";
import { withoutUnknown } from "../../configuration/geowebcache/directory.ts";
import { type ConfiguredObject, isDefaultStore, settingsOf } from "../../configuration/gwc/configured-object.ts";
import type { MapNode } from "../../configuration/gwc/document-node.ts";
import { effectiveContent } from "../../configuration/gwc/effective.ts";
import { isLayerRoot } from "../../configuration/gwc/layer-object.ts";
import type { ListedKind } from "../../configuration/gwc/object-kinds.ts";
import { inObject } from "../../configuration/gwc/object-origin.ts";
import { ownContent } from "../../configuration/gwc/own-document.ts";
import { serverContent } from "../../configuration/gwc/settings.ts";
import { isUsable } from "../../configuration/gwc/store-object.ts";
import { type Content, isMap } from "../../lib/is-map.ts";
import { MASKED, secretPartAt } from "../../lib/text/masked.ts";
import { commentOf } from "../element-report.ts";
import { literal, literalText } from "../literal-text.ts";
import { writtenYaml } from "../written-yaml.ts";
import type { GeoWebCacheSource } from "./geowebcache-source.ts";
import { elementReports } from "./honoured.ts";

export interface WrittenYaml {
  readonly text: string;
  /** The variables with secrets, and the variables that GeoWebCache replaces. */
  readonly variables: readonly string[];
}

/** The reasons why layers are omitted, by the name of the layer. */
export type LeftOut = ReadonlyMap<string, string>;

/**
 * Returns a configuration of GeoWebCache as a configuration file that a server accepts. Omits layers with values that
 * it refuses. Ignores problems of files that are missing here, because the server may have them.
 */
export async function validYamlOf(source: GeoWebCacheSource): Promise<WrittenYaml & { readonly leftOut: LeftOut }> {
  const { checkText } = await import("../../configuration/load.ts");
  const leftOut = new Map(
    source.objects.flatMap(({ kind, name, document }): [string, string][] =>
      kind === "layer" && document?.fault !== undefined ? [[name, document.fault]] : [],
    ),
  );
  for (;;) {
    const written = yamlOf(source, leftOut);
    const { problems } = await checkText(Buffer.from(written.text), "imported.yaml");
    const before = leftOut.size;
    for (const { path, message } of problems) {
      const name = written.layers[Number(/^layers\[(\d+)\]/.exec(path)?.[1] ?? Number.NaN)];
      if (name === undefined || leftOut.has(name)) continue;
      leftOut.set(name, inObject({ path, message }, "elements")?.message ?? message);
    }
    if (leftOut.size === before) return { ...written, leftOut };
  }
}

/** A section of the configuration file, with the objects from which its items are made. */
interface Section {
  readonly key: string;
  readonly items: readonly { readonly content: Content; readonly object: ConfiguredObject | undefined }[];
}

/** A configuration of GeoWebCache in the shape of the configuration file. */
interface Translation {
  readonly content: Content;
  readonly sections: readonly Section[];
  readonly variables: readonly string[];
}

/** Converts a configuration of GeoWebCache. */
export function translationOf(source: GeoWebCacheSource): Translation {
  const { objects, users, cwd } = source;
  const layers = layerItems(objects);
  const quota = source.quota && withoutUnknown(source.quota, new Set(layers.map(({ object }) => object?.name ?? "")));
  const variables = new Set<string>();
  const sections = [
    { key: "stores", items: storeItems(source) },
    { key: "gridSets", items: itemsOf(objects, "gridSet") },
    { key: "layers", items: layers },
  ]
    .filter(({ key, items }) => key === "layers" || items.length > 0)
    .map(
      ({ key, items }): Section => ({
        key,
        items: items.map(({ content, object }) => ({
          object,
          content: withVariables(withPaths(content, cwd), {
            name: object?.name ?? "",
            variables,
            isReplaced: isReplacedIn(object),
          }),
        })),
      }),
    );
  const accounts = users.map(({ name, passwordHash, roles }) => ({ name, passwordHash, roles }));
  const content = {
    ...withLiterals(serverContent(settingsOf(objects))),
    ...(accounts.length === 0 ? {} : withLiterals({ users: accounts })),
    ...Object.fromEntries(sections.map(({ key, items }) => [key, items.map((item) => item.content)])),
    ...(quota === undefined ? {} : withLiterals({ diskQuota: quota })),
  };
  return { content, sections, variables: [...variables] };
}

/** Returns a configuration of GeoWebCache as a configuration file, with comments on elements that have no effect. */
export function yamlOf(
  source: GeoWebCacheSource,
  without: LeftOut = new Map(),
): WrittenYaml & { readonly layers: readonly string[] } {
  const objects = source.objects.filter(({ kind, name }) => kind !== "layer" || !without.has(name));
  const { content, sections, variables } = translationOf({ ...source, objects });
  const reports = elementReports(objects);
  const left = [
    ...leftOutKinds(objects),
    ...[...without].map(([name, why]) => `Left out: the layer ${name}: ${why}`.replace(/[\r\n]+/g, " ")),
  ];
  const comments = sections.map(({ key, items }) => ({
    key,
    comments: items.map(({ object }) =>
      commentOf(
        reports.filter(({ kind, name }) => kind === object?.kind && name === object.name),
        ({ path }) => path,
      ),
    ),
  }));
  return {
    text: writtenYaml("GeoWebCache", content, left, comments),
    variables,
    layers: layerItems(objects).map(({ object }) => object?.name ?? ""),
  };
}

/** Returns the objects of a kind, each in the form of the configuration file. */
const itemsOf = (
  objects: readonly ConfiguredObject[],
  kind: ListedKind,
  settings?: MapNode | undefined,
): Section["items"] =>
  objects.flatMap((object) =>
    object.kind === kind && object.document !== undefined
      ? [{ object, content: effectiveContent(kind, object.document, settings, undefined) }]
      : [],
  );

/** The default store comes first. If no store is the default, it is the directory itself. */
function storeItems({ objects, directory }: GeoWebCacheSource): Section["items"] {
  const usable = objects.filter(
    ({ kind, document }) => kind === "store" && document !== undefined && isUsable(document),
  );
  const first = usable.findLast(isDefaultStore);
  const others = usable.filter((object) => object !== first);
  if (first !== undefined) return itemsOf([first, ...others], "store");
  const content = { type: "file", id: "geowebcache", path: directory, layout: "gwc" };
  return [...(directory === undefined ? [] : [{ object: undefined, content }]), ...itemsOf(others, "store")];
}

const layerItems = (objects: readonly ConfiguredObject[]): Section["items"] =>
  itemsOf(
    objects.filter(({ document }) => document !== undefined && isServed(document)),
    "layer",
    settingsOf(objects),
  );

const isServed = (document: NonNullable<ConfiguredObject["document"]>): boolean =>
  (isLayerRoot(document.root) && document.fault === undefined) || ownContent(document) !== undefined;

/** Returns the omitted kinds of objects, one line each. */
const leftOutKinds = (objects: readonly ConfiguredObject[]): readonly string[] =>
  objects.flatMap(({ kind, name, document }) => {
    if (document === undefined) return [];
    if (kind === "layer" && document.fault === undefined && !isServed(document))
      return [`Left out: the layer ${name}, of the kind ${document.root}.`];
    if (kind === "store" && !isUsable(document))
      return [`Left out: the store ${name} of the kind ${document.root}, which is not used.`];
    return [];
  });

/** Returns the name of a variable for a secret of an object. */
export const variableOf = (key: string, name: string): string =>
  `${key.replace(/([A-Z])/g, "_$1")}_${name}`.toUpperCase().replace(/[^A-Z0-9]+/g, "_");

const withLiterals = (content: Content): Content =>
  Object.fromEntries(Object.entries(content).map(([key, value]) => [key, literal(value)]));

/** Keys of stores, sources and request filters whose values are file paths. */
const PATHS: ReadonlySet<string> = new Set(["path", "file", "tilesPath", "directory"]);
/** Keys of a layer whose values have such keys. */
const WITH_PATHS: ReadonlySet<string> = new Set(["source", "requestFilters"]);

/**
 * Makes relative paths of a store or a layer absolute, because paths in the configuration file start from its
 * directory.
 */
function withPaths(content: Content, cwd: string | undefined): Content {
  if (cwd === undefined) return content;
  return Object.fromEntries(
    Object.entries(content).map(([key, value]): [string, unknown] => {
      if (PATHS.has(key) && typeof value === "string") return [key, absolute(value, cwd)];
      if (!WITH_PATHS.has(key)) return [key, value];
      if (isMap(value)) return [key, withPaths(value, cwd)];
      return [
        key,
        Array.isArray(value) ? value.map((item: unknown) => (isMap(item) ? withPaths(item, cwd) : item)) : value,
      ];
    }),
  );
}

/**
 * Makes a path absolute. Keeps a path that begins with a variable, which may have an absolute path. Keeps an empty
 * path, which is a fault that the configuration reports.
 */
const absolute = (path: string, cwd: string): string =>
  path === "" || path.startsWith("${") ? path : resolve(cwd, path);

interface Replacing {
  /** The name of the object. */
  readonly name: string;
  readonly variables: Set<string>;
  /** Whether GeoWebCache replaces `${NAME}` and `${NAME:default}` in the value of a key. */
  readonly isReplaced: (key: string) => boolean;
}

/** GeoWebCache replaces variables only in the values of a store and in the credentials of a layer. */
function isReplacedIn(object: ConfiguredObject | undefined): (key: string) => boolean {
  if (object?.document === undefined || ownContent(object.document) !== undefined) return () => false;
  const { kind } = object;
  return (key) => kind === "store" || (kind === "layer" && key === "username");
}

/**
 * Replaces secrets by variables, because a file with passwords must not get into a repository. Escapes all other texts.
 */
function withVariables(content: Content, replacing: Replacing): Content {
  return Object.fromEntries(
    Object.entries(content).map(([key, value]): [string, unknown] => {
      if (isMap(value)) return [key, withVariables(value, replacing)];
      if (Array.isArray(value))
        return [key, value.map((item: unknown) => (isMap(item) ? withVariables(item, replacing) : literal(item)))];
      if (typeof value !== "string") return [key, value];
      return [key, textWithVariables(key, value, replacing)];
    }),
  );
}

function textWithVariables(key: string, value: string, { name, variables, isReplaced }: Replacing): string {
  // The name of a user stays readable beside the variable of its password.
  const isSecret = secretPartAt([key]) === "value" && key !== "username";
  if (isSecret || value === MASKED) {
    const variable = variableOf(key, name);
    variables.add(variable);
    return `\${${variable}}`;
  }
  if (!isReplaced(key)) return literalText(value);
  return value
    .split(/(\$\{[A-Za-z_]\w*(?::[^}]*)?\})/)
    .map((part, i) => {
      if (i % 2 === 0) return literalText(part);
      const [variable = "", ...standard] = part.slice(2, -1).split(":");
      if (standard.length > 0) return `\${${variable}:-${standard.join(":")}}`;
      variables.add(variable);
      return part;
    })
    .join("");
}
