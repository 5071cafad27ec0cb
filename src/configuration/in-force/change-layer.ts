import type { Layer } from "../../layer/layer.ts";
import { withDigest } from "../../layer/layer-digest.ts";
import { FILE_SOURCES } from "../../layer/source-options.ts";
import { asLayerName } from "../../layer/tile-set.ts";
import { type Content, isMap } from "../../lib/is-map.ts";
import { onceEach } from "../../lib/once-each.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { directoryName } from "../../store/file/file-layout.ts";
import { DEFAULT_STORE } from "../../store/store-options.ts";
import type { Configuration } from "../configuration.ts";
import { documentOf, type ObjectChange, overriddenKey, settingsOf } from "../gwc/configured-object.ts";
import { effectiveContent, replacedVariables } from "../gwc/effective.ts";
import { originOfObject } from "../gwc/object-origin.ts";
import { checkLayerStores } from "../internal/build/build-stores.ts";
import { buildOneLayer, type Directories } from "../internal/build/layers/build-layers.ts";
import { isServed } from "../internal/build/with-objects.ts";
import { type Origins, Problems } from "../internal/read/problems.ts";
import { readLayer } from "../internal/read/read-document.ts";
import { type ConfigurationProblem, problemText } from "../problem.ts";
import type { Checked, LayerUpdate } from "./layer-update.ts";

const directoryOf = onceEach(({ name }: Layer): string => directoryName(name));

/**
 * Checks the change of a layer that was made over HTTP or is in a file of GeoWebCache. Decodes this layer alone and
 * checks it against the other objects of the configuration in force, which have been checked before.
 * @param env the variables that replace parameters in a file of GeoWebCache
 * @returns undefined if only a load of the whole configuration can check the change: the configuration file has the
 * layer, another section names the layer, or its source needs files, or it
 * is a group or a layer of one
 */
export async function changeLayer(
  current: Configuration,
  { kind, name, document, isInFile }: ObjectChange,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Result<Checked<LayerUpdate>, readonly ConfigurationProblem[]> | undefined> {
  if (kind !== "layer" || isInFile === true || isInFileNow(current, name) || isNamedElsewhere(current, name))
    return undefined;
  // The grid set of an ArcGIS cache is added and removed with the layer.
  if (current.layers.some((layer) => layer.name === name && layer.source.type === "arcgisCache")) return undefined;
  if (document === undefined) return ok({ next: { name: asLayerName(name), made: undefined }, warnings: [] });
  const { geowebcache } = current;
  // This server cannot serve the layer, because its store is of a kind that only GeoWebCache has.
  if (geowebcache !== undefined && !isServed(document, current.objects)) return undefined;
  const variables = geowebcache === undefined ? undefined : replacedVariables(env);
  const content = effectiveContent("layer", document, settingsOf(current.objects), variables);
  if (needsFiles(content) || isGroup(content)) return undefined;
  const at = current.layers.findIndex((layer) => layer.name === name);
  const path = ["layers", at < 0 ? current.layers.length : at] as const;
  const place = geowebcache === undefined ? undefined : { file: geowebcache.file, line: undefined };
  const origin = { file: originOfObject({ kind, name }, place) };
  const origins: Origins = {
    originOf: () => origin,
    directoryOf: () => process.cwd(),
    pathIn: (path) => path,
    writtenAs: () => undefined,
  };
  const problems = new Problems(origins);
  const warnings: string[] = [];
  const read = readLayer(content, path, { problems, cameAsText: () => false });
  if (read === undefined) return refuse(problems.list);
  const layer = await buildOneLayer(read, path, otherDirectories(current.layers, at), {
    gridSets: new Map(current.gridSets.map((gridSet) => [gridSet.id, gridSet])),
    declared: new Set(),
    // `needsFiles` has excluded sources with files.
    inspectArchive: undefined,
    caches: new Map(),
    problems,
    warnings,
  });
  const ids = current.stores.map(({ id }) => id);
  checkLayerStores([read], ids.includes(DEFAULT_STORE) ? undefined : ids, current.stores, problems);
  if (problems.list.length > 0) return refuse(problems.list);
  return ok({
    next: { name: layer.name, made: { layer: withDigest(layer), document } },
    warnings: [...warnings, ...problems.warnings.map(problemText)],
  });
}

/** Finds the other layer that uses a directory. `at` is the index of the layer that changes. */
const otherDirectories = (layers: readonly Layer[], at: number): Directories => ({
  get: (directory) => layers.find((layer, i) => i !== at && directoryOf(layer) === directory)?.name,
  set: () => {},
});

/**
 * Returns whether the configuration file has the layer, or may have another layer of the name that would then be in
 * force.
 */
function isInFileNow({ geowebcache, layers, objects, overridden }: Configuration, name: string): boolean {
  // This change may put a layer in force that was not served, for example because both layers had one directory.
  if (geowebcache !== undefined) return objects.filter(({ kind }) => kind === "layer").length !== layers.length;
  if (overridden.has(overriddenKey({ kind: "layer", name }))) return true;
  return layers.some((layer) => layer.name === name) && documentOf(objects, "layer", name) === undefined;
}

/** Returns whether the source of a layer is an archive or a cache on the disk, or names certificate files. */
function needsFiles({ source }: Content): boolean {
  if (!isMap(source)) return false;
  const { type } = source;
  return FILE_SOURCES.has(type) || ["ca", "cert", "key"].some((key) => source[key] !== undefined);
}

/** Returns whether a layer is a group, which must be checked with its layers. */
const isGroup = ({ source, layers }: Content): boolean =>
  layers !== undefined || (isMap(source) && source["type"] === "group");

/** Returns whether another section of the configuration, or a group, names a layer. */
const isNamedElsewhere = ({ diskQuota, eviction, webhooks, layers: all }: Configuration, name: string): boolean =>
  all.some(({ source }) => source.type === "group" && source.layers.some((part) => part === name)) ||
  [...diskQuota.layerQuotas, ...eviction.pins, ...eviction.floors].some(({ layer }) => layer === name) ||
  webhooks.some(({ layers }) => layers?.includes(name) === true);
