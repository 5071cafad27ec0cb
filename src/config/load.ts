import { isUtf8 } from "node:buffer";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { GridSet } from "../grid/grid-set.ts";
import type { ConfiguredObject } from "../gwc/configured-object.ts";
import type { Layer } from "../layer/layer.ts";
import { withDigest } from "../layer/layer-digest.ts";
import { fileFault } from "../lib/file-fault.ts";
import { isMap } from "../lib/is-map.ts";
import { unknownLayer } from "../lib/nearest.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import { tilesDirectory } from "../store/open-store.ts";
import type { Configuration } from "./configuration.ts";
import { DEMO_CONFIGURATION } from "./demo-configuration.ts";
import { archiveInspector } from "./internal/archives.ts";
import { buildCluster, clusterStores } from "./internal/build-cluster.ts";
import { buildEviction } from "./internal/build-eviction.ts";
import { buildGridSets } from "./internal/build-grid-sets.ts";
import { buildLayers } from "./internal/build-layers.ts";
import { buildState } from "./internal/build-state.ts";
import { buildStores, checkLayerStores } from "./internal/build-stores.ts";
import { buildUsers } from "./internal/build-users.ts";
import { buildWebhooks } from "./internal/build-webhooks.ts";
import { type ConfigurationFile, readConfigurationFile, type Variables } from "./internal/configuration-file.ts";
import { withValue } from "./internal/document-path.ts";
import { isLoopback } from "./internal/loopback.ts";
import { readOverrides } from "./internal/overrides.ts";
import { isWithin, type Origins, type Path, Problems } from "./internal/problems.ts";
import { type Document, readDocument } from "./internal/read-document.ts";
import { originOfObject, withObjects } from "./internal/with-objects.ts";
import { type ConfigurationProblem, type Origin, problemText } from "./problem.ts";

const NOBODY =
  "a loopback address while no user is configured: any client could manage this server; set NUTHATCH_ADMIN_PASSWORD, or add a user under users:";

/** Facts of the running server that a reload must not lose because a section is absent. */
export interface RunningConfiguration {
  readonly users: number;
  readonly layers: number;
}

export interface ConfigurationInput {
  readonly env: Variables;
  /** `config`, `host`, `port`, `data-dir`, or the path of a key (`jobs.maxRunningTasks`). */
  readonly flags: Readonly<Record<string, string>>;
  /** The directory to which relative paths refer. */
  readonly cwd: string;
  /** Given at a reload: facts of the server whose configuration is replaced. */
  readonly running?: RunningConfiguration;
  /** What was made over HTTP, beside the layers and grid sets of the file. */
  readonly objects?: readonly ConfiguredObject[];
}

/**
 * Loads the configuration from the file, from variables and from flags; a later source overrides an earlier one.
 * Without a file it has the demo layers. Returns all problems at once. The result is frozen.
 */
export async function loadConfiguration(
  input: ConfigurationInput,
): Promise<Result<Configuration, readonly ConfigurationProblem[]>> {
  const { env, flags, cwd } = input;
  const name = flags["config"] ?? (env["NUTHATCH_CONFIG"] || undefined);
  const file = name === undefined ? undefined : await readNamed(name, cwd, env);
  const overridden = readOverrides(env, flags);
  // A file that is not valid YAML has no content to check further.
  if (file !== undefined && file.content === undefined && file.problems.length > 0)
    return refuse([...file.problems, ...overridden.problems]);

  let content: unknown = file?.content ?? {};
  // A content that is not a map is reported as such below. Overrides would turn it into a map and hide the problem.
  if (isMap(content)) for (const { path, value } of overridden.overrides) content = withValue(content, path, value);
  const objects = input.objects ?? [];
  // Beside objects the demo layers are a part of the content like those of a file.
  const isDemo = file === undefined && objects.length > 0 && isMap(content) && content["layers"] === undefined;
  if (isDemo) content = { ...DEMO_CONFIGURATION, ...(isMap(content) ? content : {}) };
  const added = withObjects(content, objects);
  content = added.content;
  const overrideAt = (path: Path) => overridden.overrides.findLast((override) => isWithin(path, override.path));
  const origins: Origins = {
    originOf(path, part) {
      const override = overrideAt(path);
      if (override !== undefined) return { file: override.name };
      const object = added.objectAt(path);
      if (object !== undefined) return { file: originOfObject(object) };
      return file?.positionOf(path, part) ?? { file: "the configuration" };
    },
    writtenAs: (path) => (overrideAt(path) === undefined ? file?.writtenAs(path) : undefined),
  };
  const problems = new Problems(origins);
  const warnings = [...overridden.warnings];
  const built = await build(content, {
    input,
    file: name === undefined ? undefined : resolve(cwd, name),
    problems,
    origins,
    warnings,
    cameAsText: (path) => overrideAt(path) !== undefined || file?.writtenAs(path) !== undefined,
  });
  // A text whose variable is not set is reported once: its emptiness is not a second problem.
  const reported = new Set((file?.problems ?? []).map(({ path }) => path));
  const found = [
    ...(file?.problems ?? []),
    ...overridden.problems,
    ...problems.list.filter(({ path }) => !reported.has(path)),
  ];
  if (found.length > 0) return refuse(found);
  return ok(freeze({ ...built, warnings: [...warnings, ...problems.warnings.map(problemText)] }));
}

const unreadable = (file: string, message: string, at: { readonly line?: number } = {}): ConfigurationFile => ({
  content: undefined,
  problems: [{ file, ...at, path: "", message }],
  positionOf: () => ({ file }),
  writtenAs: () => undefined,
  withVariables: [],
});

async function readNamed(name: string, cwd: string, env: Variables): Promise<ConfigurationFile> {
  try {
    return readBytes(name, await readFile(resolve(cwd, name)), env);
  } catch (error) {
    return unreadable(
      name,
      `the configuration cannot be read: ${fileFault(error)}; --config or NUTHATCH_CONFIG names another file`,
    );
  }
}

/** Reads the bytes of a file called `name`. Without `env` its variables are not replaced. */
function readBytes(name: string, bytes: Buffer, env: Variables | undefined): ConfigurationFile {
  const line = lineBeyondUtf8(bytes);
  if (line !== undefined)
    return unreadable(name, "the file is not UTF-8 from this line on: save it in the encoding UTF-8", { line });
  const text = bytes.toString();
  return /<(?:\w+:)?gwcConfiguration\b/.test(text.slice(0, 10_000))
    ? unreadable(
        name,
        "this is GeoWebCache's configuration, and Nuthatch reads YAML: `nuthatch import wms URL` writes the layers of the WMS behind it; docs/layers.md has the keys for the rest",
        { line: 1 },
      )
    : readConfigurationFile(name, text, env);
}

/** The problems and warnings of a text. A text without problems is valid. */
export interface TextReport {
  readonly problems: readonly ConfigurationProblem[];
  readonly warnings: readonly ConfigurationProblem[];
}

/**
 * Checks the text of a configuration by itself: reads no variables and no files. Values that contain variables or
 * depend on files count as correct.
 */
export async function checkText(bytes: Buffer, name: string): Promise<TextReport> {
  const file = readBytes(name, bytes, undefined);
  if (file.content === undefined && file.problems.length > 0) return { problems: file.problems, warnings: [] };
  const origins: Origins = { originOf: file.positionOf, writtenAs: file.writtenAs };
  const problems = new Problems(origins);
  for (const path of file.withVariables) problems.skip(path);
  const warnings: string[] = [];
  await build(file.content, {
    input: { env: {}, cwd: "/", textOnly: true },
    file: name,
    problems,
    origins,
    warnings,
    cameAsText: () => false,
  });
  const plain = warnings.map((message) => ({ file: name, path: "", message }));
  return { problems: [...file.problems, ...problems.list], warnings: [...problems.warnings, ...plain] };
}

/** Returns the first line of a text that is not UTF-8, counted from 1; undefined: all lines are. */
function lineBeyondUtf8(text: Buffer): number | undefined {
  if (isUtf8(text)) return undefined;
  for (let line = 1, from = 0; ; line++) {
    const end = text.indexOf("\n", from);
    if (end < 0 || !isUtf8(text.subarray(from, end))) return line;
    from = end + 1;
  }
}

interface Building {
  readonly input: Omit<ConfigurationInput, "flags"> & {
    /** True: no file is read, no password is hashed, and variables may add what the text lacks. */
    readonly textOnly?: true;
  };
  readonly file: string | undefined;
  readonly problems: Problems;
  readonly origins: Origins;
  readonly warnings: string[];
  cameAsText(path: Path): boolean;
}

async function build(content: unknown, building: Building): Promise<Configuration> {
  const { input, problems, warnings, file } = building;
  const document = readDocument(content, building);
  let gridSets: readonly GridSet[] = [];
  const layersOf = async ({ gridSets: own, gridSetIds, layers: documents = [] }: Document) => {
    const built = await buildGridSets(own, input, problems);
    gridSets = [...built.values()];
    const declared = new Set([...gridSetIds, ...built.keys()]);
    const inspectArchive = input.textOnly ? undefined : archiveInspector(input.cwd);
    return buildLayers(documents, { gridSets: built, declared, inspectArchive, problems, warnings });
  };
  const demo = file === undefined && document.layers === undefined;
  const configured = await layersOf(document);
  const layers = (demo ? await layersOf(readDocument(DEMO_CONFIGURATION, building)) : configured).map(withDigest);
  if (layers.length === 0 && !problems.within(["layers"])) warnings.push("no layers are configured");
  const dataDir = resolve(input.cwd, document.dataDir);
  const cluster = buildCluster(document, problems, warnings);
  const built = buildStores(document.stores, {
    dataDir,
    cwd: input.cwd,
    defaultDirectory: tilesDirectory(dataDir),
    isShared: document.store.shared,
    problems,
  });
  const stores = cluster === undefined ? built : clusterStores(built, document, problems);
  checkLayerStores(document.layers ?? [], document.storeIds, stores, problems);
  const users = await buildUsers(document, { ...input, file }, problems, warnings);
  const { server, jobs, compat, serviceInformation, store } = document;
  const { count, ...diskQuota } = document.diskQuota;
  if (
    !input.textOnly &&
    users.length === 0 &&
    !problems.within(["users"]) &&
    !problems.within(["server"]) &&
    !isLoopback(server.host)
  )
    problems.expected(["server", "host"], NOBODY, server.host);
  if (input.running !== undefined)
    checkReload(input.running, { users: users.length, hasLayers: demo || document.layers !== undefined }, problems);
  const hasAllLayers = !problems.within(["layers"]);
  if (hasAllLayers) checkLayerNames(document, layers, problems);
  return {
    file,
    server,
    dataDir,
    users,
    layers,
    gridSets,
    objects: input.objects ?? [],
    layerOrigins: layerOrigins(demo ? [] : (document.layers ?? []), building.origins),
    jobs,
    compat,
    serviceInformation,
    state: buildState(document.state, problems),
    ...(cluster === undefined ? {} : { cluster }),
    store,
    stores,
    diskQuota,
    eviction: buildEviction(document.eviction, count, hasAllLayers ? layers : [], problems),
    webhooks: buildWebhooks(document.webhooks, problems),
    warnings,
  };
}

/** Returns where each layer is configured. A layer that does not fit the schema is undefined here. */
const layerOrigins = (documents: NonNullable<Document["layers"]>, origins: Origins): ReadonlyMap<string, Origin> =>
  new Map(
    documents.flatMap((layer, i) =>
      layer === undefined ? [] : [[layer.name, origins.originOf(["layers", i], "value")] as const],
    ),
  );

/**
 * Reports names of unknown layers outside the section of the layers. Not for layers with problems: they would be
 * reported as unknown too.
 */
function checkLayerNames(
  { diskQuota, eviction, webhooks }: Document,
  layers: readonly Layer[],
  problems: Problems,
): void {
  const known = layers.map(({ name }) => name);
  const check = (path: Path, name: string): void => {
    if (!known.includes(name)) problems.add(path, unknownLayer(name, known));
  };
  for (const [i, { layer }] of diskQuota.layerQuotas.entries()) check(["diskQuota", "layerQuotas", i, "layer"], layer);
  for (const key of ["pins", "floors"] as const)
    for (const [i, { layer }] of eviction[key].entries()) check(["eviction", key, i, "layer"], layer);
  for (const [i, webhook] of webhooks.entries())
    for (const [n, layer] of (webhook?.layers ?? []).entries()) check(["webhooks", i, "layers", n], layer);
}

/**
 * Refuses a reload that would open the management interface or remove every layer because a section is absent. A file
 * can end early for a moment: an editor is rewriting it, or the disk is full.
 * `hasLayers`: the section exists.
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

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) freeze(inner);
  }
  return value;
}
