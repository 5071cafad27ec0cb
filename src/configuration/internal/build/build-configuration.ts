import type { GridSet } from "../../../grid/grid-set.ts";
import type { Layer } from "../../../layer/layer.ts";
import { withDigest } from "../../../layer/layer-digest.ts";
import { lackOfMetadata } from "../../../layer/service-information.ts";
import { asLayerName } from "../../../layer/tile-set.ts";
import { isLoopback } from "../../../lib/http/loopback.ts";
import { unknownLayer } from "../../../lib/text/nearest.ts";
import { machineClock } from "../../../lib/time/machine-clock.ts";
import { tilesDirectory } from "../../../store/open-store.ts";
import type { Configuration, GeoWebCacheOptions } from "../../configuration.ts";
import type { ConfigurationInput, RunningConfiguration } from "../../configuration-input.ts";
import { DEMO_CONFIGURATION } from "../../demo-configuration.ts";
import type { GeoWebCacheDirectory } from "../../geowebcache/directory.ts";
import { type ConfiguredObject, overriddenKey } from "../../gwc/configured-object.ts";
import type { Origin } from "../../problem.ts";
import { checkIncluded } from "../read/check-included.ts";
import type { Origins, Path, Problems } from "../read/problems.ts";
import { type Document, readDocument } from "../read/read-document.ts";
import { readArcgisCaches } from "./arcgis-caches.ts";
import { archiveInspector } from "./archives.ts";
import { buildCluster, clusterStores } from "./build-cluster.ts";
import { buildDatabases, checkLayerDatabases } from "./build-databases.ts";
import { buildEviction } from "./build-eviction.ts";
import { buildGridSets } from "./build-grid-sets.ts";
import { buildState } from "./build-state.ts";
import { buildStores, checkLayerStores, type StoresContext } from "./build-stores.ts";
import { buildUsers } from "./build-users.ts";
import { buildWebhooks } from "./build-webhooks.ts";
import { buildLayers } from "./layers/build-layers.ts";

const NOBODY =
  "a loopback address while no user is configured: any client could manage this server; set NUTHATCH_ADMIN_PASSWORD, or add a user under users:";

const DEFAULT_PASSWORD =
  "a loopback address while users.properties has GeoWebCache's password that everybody knows: choose another password,";

/** The input of `build` in addition to the content of the files. */
export interface Building {
  readonly input: Omit<ConfigurationInput, "flags"> & {
    /** True to read no files and hash no passwords, and to accept that variables may add missing values. */
    readonly textOnly?: true;
  };
  readonly file: string | undefined;
  readonly problems: Problems;
  readonly origins: Origins;
  readonly warnings: string[];
  /** The parts of the stores' context that depend on stores made over HTTP. */
  readonly stores?: Pick<StoresContext, "first" | "keepsDefault">;
  readonly overridden?: ReadonlySet<string>;
  readonly objects?: readonly ConfiguredObject[];
  readonly directory?: GeoWebCacheDirectory | undefined;
  /** The contents of the files that the configuration includes. */
  readonly included?: readonly unknown[];
  cameAsText(path: Path): boolean;
}

/**
 * Builds a configuration. Adds a problem for each invalid value. The caller must not use the result if there are
 * problems.
 */
export async function build(content: unknown, building: Building): Promise<Configuration> {
  const { input, problems, warnings, file } = building;
  const document = readDocument(content, building);
  for (const [i, one] of (building.included ?? []).entries()) checkIncluded(one, ["include", i], building);
  let gridSets: readonly GridSet[] = [];
  const layersOf = async ({ gridSets: own, gridSetIds, layers: documents = [] }: Document) => {
    const built = buildGridSets(own, input, problems);
    const declared = new Set([...gridSetIds, ...built.keys()]);
    const caches = await readArcgisCaches(input.textOnly ? [] : documents, problems);
    const ofCaches = [...caches.values()].flatMap(({ report }) => (report.ok ? [report.value.gridSet] : []));
    // The grid sets of caches are available to all layers, as in GeoWebCache, which writes them into its file.
    const all = new Map([...ofCaches.map((gridSet) => [gridSet.id, gridSet] as const), ...built]);
    // Only the cache's `conf.xml` defines its grid set, and no file is read.
    if (input.textOnly && documents.some((layer) => layer?.source.type === "arcgisCache"))
      problems.skip(["gridSets", Number.MAX_SAFE_INTEGER]);
    gridSets = [...all.values()];
    const inspectArchive = input.textOnly ? undefined : archiveInspector(problems);
    return buildLayers(documents, { gridSets: all, declared, inspectArchive, caches, problems, warnings });
  };
  const { directory } = building;
  const demo = file === undefined && directory === undefined && document.layers === undefined;
  const configured = await layersOf(document);
  const layers = (demo ? await layersOf(readDocument(DEMO_CONFIGURATION, building)) : configured).map(withDigest);
  if (layers.length === 0 && !problems.within(["layers"])) warnings.push("no layers are configured");
  const dataDir = problems.fileAt(["dataDir"], document.dataDir);
  const cluster = buildCluster(document, problems, warnings);
  if (cluster !== undefined && directory !== undefined)
    problems.add(
      ["cluster"],
      "a directory of GeoWebCache is the configuration of one server: expected no cluster beside it",
    );
  const built = buildStores(document.stores, {
    dataDir,
    defaultDirectory: directory?.path ?? tilesDirectory(dataDir),
    isShared: document.store.shared,
    ...building.stores,
    holdsOthers: directory !== undefined,
    problems,
  });
  const stores = cluster === undefined ? built : clusterStores(built, document, problems);
  checkLayerStores(document.layers ?? [], document.storeIds, stores, problems);
  checkLayerDatabases(document, problems);
  const users = await buildUsers(document, { ...input, file, more: directory?.users ?? [] }, problems, warnings);
  const { server, jobs, activity, log, compat, serviceInformation, inspire, store } = document;
  const lack = inspire && lackOfMetadata(inspire, serviceInformation);
  if (lack !== undefined)
    problems.add(
      ["inspire", "temporalReference"],
      `expected serviceInformation.serviceProvider beside it, with ${lack}`,
    );
  const { count, ...diskQuota } = document.diskQuota;
  if (
    !input.textOnly &&
    users.length === 0 &&
    !problems.within(["users"]) &&
    !problems.within(["server"]) &&
    !isLoopback(server.host)
  )
    problems.expected(["server", "host"], NOBODY, server.host);
  if (directory?.hasDefaultPassword === true && !problems.within(["server"]) && !isLoopback(server.host))
    problems.expected(["server", "host"], DEFAULT_PASSWORD, server.host);
  if (input.running !== undefined)
    checkReload(
      input.running,
      { users: users.length, hasLayers: demo || directory !== undefined || document.layers !== undefined },
      problems,
    );
  const hasAllLayers = !problems.within(["layers"]);
  if (hasAllLayers) checkLayerNames(document, layers, problems);
  return {
    revision: machineClock.now(),
    file: directory?.file ?? file,
    ...(directory === undefined ? {} : { geowebcache: optionsOf(directory, input.objects === undefined) }),
    server,
    dataDir,
    users,
    layers,
    gridSets,
    objects: building.objects ?? [],
    isWritable: document.config.writable,
    overridden: building.overridden ?? new Set(),
    includedIn: includedIn(document, building.origins),
    layerOrigins: layerOrigins(demo ? [] : (document.layers ?? []), building),
    jobs,
    activity,
    log,
    compat,
    serviceInformation,
    ...(inspire === undefined ? {} : { inspire }),
    state: buildState(document.state, problems),
    ...(cluster === undefined ? {} : { cluster }),
    databases: buildDatabases(document.databases, problems),
    store,
    stores,
    diskQuota: {
      ...diskQuota,
      layerQuotas: diskQuota.layerQuotas.map((quota) => ({ ...quota, layer: asLayerName(quota.layer) })),
    },
    eviction: buildEviction(document.eviction, count, hasAllLayers ? layers : [], problems),
    purge: document.purge,
    webhooks: buildWebhooks(document.webhooks, problems),
    warnings,
  };
}

const optionsOf = ({ path, file, read }: GeoWebCacheDirectory, isRead: boolean): GeoWebCacheOptions => ({
  directory: path,
  file,
  read: isRead ? read : undefined,
});

/** Returns the included files that have grid sets and stores. */
function includedIn({ gridSets, stores = [] }: Document, origins: Origins): ReadonlyMap<string, string> {
  const main = origins.originOf([], "value").file;
  const lists = [
    { key: "gridSets", kind: "gridSet", items: gridSets },
    { key: "stores", kind: "store", items: stores },
  ] as const;
  const found = lists.flatMap(({ key, kind, items }) =>
    items.map((item, i) => {
      const { file, line } = origins.originOf([key, i], "value");
      return item?.id === undefined || line === undefined || file === main
        ? []
        : ([[overriddenKey({ kind, name: item.id }), file]] as const);
    }),
  );
  return new Map(found.flat());
}

/** Returns the position of each layer of the files. In `layers` a layer is undefined if it does not fit the schema. */
function layerOrigins(
  documents: NonNullable<Document["layers"]>,
  { origins, objects = [] }: Building,
): ReadonlyMap<string, Origin> {
  const made = new Set(objects.flatMap(({ kind, name, document }) => (kind === "layer" && document ? [name] : [])));
  return new Map(
    documents.flatMap((layer, i) =>
      layer === undefined || made.has(layer.name)
        ? []
        : [[layer.name, origins.originOf(["layers", i], "value")] as const],
    ),
  );
}

/**
 * Reports unknown layers that sections other than `layers` name. Called only if no layer has a problem, because a layer
 * with a problem would be reported as unknown too.
 */
function checkLayerNames(
  { diskQuota, eviction, webhooks }: Document,
  layers: readonly Layer[],
  problems: Problems,
): void {
  const known: ReadonlySet<string> = new Set(layers.map(({ name }) => name));
  const check = (path: Path, name: string): void => {
    if (!known.has(name)) problems.add(path, () => unknownLayer(name, known));
  };
  for (const [i, { layer }] of diskQuota.layerQuotas.entries()) check(["diskQuota", "layerQuotas", i, "layer"], layer);
  for (const key of ["pins", "floors"] as const)
    for (const [i, { layer }] of eviction[key].entries()) check(["eviction", key, i, "layer"], layer);
  for (const [i, webhook] of webhooks.entries())
    for (const [n, layer] of (webhook?.layers ?? []).entries()) check(["webhooks", i, "layers", n], layer);
}

/**
 * Refuses a reload that would open the management interface or remove every layer because a section is absent. While an
 * editor rewrites a file, or the disk is full, the file may end early.
 * @param hasLayers whether the section `layers` exists
 */
function checkReload(
  running: RunningConfiguration,
  next: { readonly users: number; readonly hasLayers: boolean },
  problems: Problems,
): void {
  const count = (n: number, one: string): string => `the running server has ${n} ${n === 1 ? one : `${one}s`}`;
  if (running.users > 0 && next.users === 0 && !problems.within(["users"]))
    problems.add(
      ["users"],
      `${count(running.users, "user")} and this configuration names none: a reload does not open the server to everybody; restart it to run without users`,
    );
  if (running.layers > 0 && !next.hasLayers)
    problems.add(
      ["layers"],
      `${count(running.layers, "layer")} and this configuration has no such section: a reload removes all layers only by "layers: []"`,
    );
}
