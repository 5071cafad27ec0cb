import { isUtf8 } from "node:buffer";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { ConfiguredObject } from "../gwc/configured-object.ts";
import { fileFault } from "../lib/file-fault.ts";
import { isMap } from "../lib/is-map.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import type { Configuration } from "./configuration.ts";
import type { ConfigurationInput } from "./configuration-input.ts";
import { DEMO_CONFIGURATION } from "./demo-configuration.ts";
import { type GeoWebCacheDirectory, lineKey, readDirectory } from "./geowebcache/directory.ts";
import { build } from "./internal/build-configuration.ts";
import { type ConfigurationFile, readConfigurationFile, type Variables } from "./internal/configuration-file.ts";
import { withValue } from "./internal/document-path.ts";
import { type Overrides, readOverrides } from "./internal/overrides.ts";
import { isWithin, type Origins, type Path, Problems } from "./internal/problems.ts";
import { originOfObject, withObjects } from "./internal/with-objects.ts";
import { type ConfigurationProblem, problemText } from "./problem.ts";

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
  const named = flags["geowebcache"] ?? (env["NUTHATCH_GEOWEBCACHE"] || undefined);
  const directory =
    named === undefined
      ? undefined
      : await readDirectory(named, cwd, input.makesDefaults === true ? "make defaults" : "only read");
  if (directory !== undefined && directory.problems.length > 0 && input.objects === undefined)
    return refuse(directory.problems);
  const loading: Loading = {
    input,
    file,
    overridden,
    path: name === undefined ? undefined : resolve(cwd, name),
    directory,
  };
  if (directory === undefined) return loadWith(content, input.objects ?? [], loading, new Set());
  if (isMap(content) && content["diskQuota"] === undefined && directory.quota !== undefined)
    content = { ...content, diskQuota: directory.quota };
  return loadLeniently(content, input.objects ?? directory.objects, loading);
}

/** What is known before the objects are added to the content. */
interface Loading {
  readonly input: ConfigurationInput;
  readonly file: ConfigurationFile | undefined;
  readonly overridden: Overrides;
  /** The configuration file, as an absolute path. */
  readonly path: string | undefined;
  readonly directory: GeoWebCacheDirectory | undefined;
}

/**
 * Loads a configuration whose layers come from a file of GeoWebCache. GeoWebCache starts with layers that cannot work, so
 * such a layer is kept, is not served, and causes a warning. The layer that a request changes has to be valid.
 */
async function loadLeniently(
  content: unknown,
  objects: readonly ConfiguredObject[],
  loading: Loading,
): Promise<Result<Configuration, readonly ConfigurationProblem[]>> {
  const notServed = new Set<string>();
  const warnings: string[] = [];
  for (;;) {
    const loaded = await loadWith(content, objects, loading, notServed);
    if (loaded.ok) return ok(freeze({ ...loaded.value, warnings: [...loaded.value.warnings, ...warnings] }));
    const { changed } = loading.input;
    const layers = new Set(loaded.error.map(({ file }) => layerOfOrigin(objects, loading, file)));
    const isOfLayers = !layers.has(undefined) && !(changed?.kind === "layer" && layers.has(changed.name));
    if (!isOfLayers) return loaded;
    for (const layer of layers) if (layer !== undefined) notServed.add(layer);
    for (const problem of loaded.error) warnings.push(`not served: ${problemText(problem)}`);
  }
}

/** Returns the layer of a problem by its origin. */
const layerOfOrigin = (
  objects: readonly ConfiguredObject[],
  { directory }: Loading,
  file: string,
): string | undefined =>
  objects.find((object) => object.kind === "layer" && originText(object, directory) === file)?.name;

/** Returns where an object is configured, for messages. */
function originText(object: ConfiguredObject, directory: GeoWebCacheDirectory | undefined): string {
  const text = originOfObject(object);
  const line = directory?.lines.get(lineKey(object));
  return directory === undefined ? text : `${directory.file}${line === undefined ? "" : `, line ${line}`}: ${text}`;
}

async function loadWith(
  base: unknown,
  objects: readonly ConfiguredObject[],
  { input, file, overridden, path: configurationPath, directory }: Loading,
  notServed: ReadonlySet<string>,
): Promise<Result<Configuration, readonly ConfigurationProblem[]>> {
  let content = base;
  // Beside objects the demo layers are a part of the content like those of a file.
  const isDemo =
    file === undefined &&
    directory === undefined &&
    objects.length > 0 &&
    isMap(content) &&
    content["layers"] === undefined;
  if (isDemo) content = { ...DEMO_CONFIGURATION, ...(isMap(content) ? content : {}) };
  const { env } = input;
  const variables = directory !== undefined && env["ALLOW_ENV_PARAMETRIZATION"] === "true" ? env : undefined;
  const added = withObjects(content, objects, {
    variables,
    notServed,
    directory: directory?.path,
    changed: input.changed?.kind === "layer" ? input.changed.name : undefined,
  });
  content = added.content;
  const overrideAt = (path: Path) => overridden.overrides.findLast((override) => isWithin(path, override.path));
  const origins: Origins = {
    originOf(path, part) {
      const override = overrideAt(path);
      if (override !== undefined) return { file: override.name };
      const object = added.objectAt(path);
      if (object !== undefined) return { file: originText(object, directory) };
      return file?.positionOf(added.inFile(path), part) ?? { file: "the configuration" };
    },
    writtenAs: (path) => (overrideAt(path) === undefined ? file?.writtenAs(added.inFile(path)) : undefined),
  };
  const problems = new Problems(origins);
  const warnings = [...overridden.warnings, ...(directory?.warnings ?? [])];
  const built = await build(content, {
    input,
    file: configurationPath,
    problems,
    origins,
    warnings,
    cameAsText: (path) => overrideAt(path) !== undefined || file?.writtenAs(added.inFile(path)) !== undefined,
    objects,
    stores: { first: added.defaultStore, keepsDefault: added.keepsDefault },
    overridden: added.overridden,
    directory,
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

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) freeze(inner);
  }
  return value;
}
