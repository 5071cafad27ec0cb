import { dirname, resolve } from "node:path";
import { type Content, isMap } from "../lib/is-map.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import type { Configuration } from "./configuration.ts";
import type { ConfigurationInput } from "./configuration-input.ts";
import { DEMO_CONFIGURATION } from "./demo-configuration.ts";
import { type GeoWebCacheDirectory, lineKey, readDirectory } from "./geowebcache/directory.ts";
import type { ConfiguredObject } from "./gwc/configured-object.ts";
import { replacedVariables } from "./gwc/effective.ts";
import { inObject, originOfObject } from "./gwc/object-origin.ts";
import { build } from "./internal/build/build-configuration.ts";
import { withObjects } from "./internal/build/with-objects.ts";
import { type AssembledFiles, assembleFiles, INCLUDED_LISTS } from "./internal/read/assemble-files.ts";
import type { ConfigurationFile } from "./internal/read/configuration-file.ts";
import { valueAt } from "./internal/read/document-path.ts";
import { type Overrides, readOverrides } from "./internal/read/overrides.ts";
import { isWithin, type Origins, type Path, Problems, pathText } from "./internal/read/problems.ts";
import { readBytes, readIncluded, readNamed } from "./internal/read/read-files.ts";
import { type ConfigurationProblem, problemText } from "./problem.ts";

/**
 * Loads the configuration from the file, from variables and from flags; a later source overrides an earlier one.
 * Without a file it has the demo layers. Returns all problems at once.
 */
export async function loadConfiguration(
  input: ConfigurationInput,
): Promise<Result<Configuration, readonly ConfigurationProblem[]>> {
  const { env, flags, cwd } = input;
  const name = flags["config"] ?? (env["NUTHATCH_CONFIG"] || undefined);
  const file = name === undefined ? undefined : await readNamed(name, cwd, env);
  const overridden = readOverrides(env, flags);
  const included = await includedFiles(file, name, overridden, input);
  if (!included.ok) return included;
  const files = assembleFiles(file, included.value, overridden.overrides);
  let { content } = files;
  const named = flags["geowebcache"] ?? (env["NUTHATCH_GEOWEBCACHE"] || undefined);
  const directory =
    named === undefined
      ? undefined
      : await readDirectory(named, cwd, input.makesDefaults === true ? "make defaults" : "only read");
  if (directory !== undefined && directory.problems.length > 0 && input.objects === undefined)
    return refuse(directory.problems);
  const loading: Loading = {
    input,
    hasFile: file !== undefined,
    files,
    overridden,
    path: name === undefined ? undefined : resolve(cwd, name),
    directory,
  };
  if (directory === undefined) return loadWith(content, input.objects ?? [], loading, new Set());
  if (isMap(content)) content = withDefaultsOf(directory, content);
  return loadLeniently(content, input.objects ?? directory.objects, loading);
}

/** The form of the quota document that GeoWebCache's clients read. */
const GEOWEBCACHE_QUOTA = { quotaRoot: "org.geowebcache.diskquota.DiskQuotaConfig", quotaForm: "bytes" };

/** Adds values of a directory of GeoWebCache that the configuration lacks. */
function withDefaultsOf({ quota }: GeoWebCacheDirectory, content: Content): Content {
  const { compat = {}, diskQuota = quota } = content;
  return {
    ...content,
    ...(diskQuota === undefined ? {} : { diskQuota }),
    compat: isMap(compat) ? { ...GEOWEBCACHE_QUOTA, ...compat } : compat,
  };
}

/** Returns the files that a configuration includes. Refuses if a file cannot be read. */
async function includedFiles(
  file: ConfigurationFile | undefined,
  name: string | undefined,
  { overrides, problems }: Overrides,
  { cwd, env }: ConfigurationInput,
): Promise<Result<readonly ConfigurationFile[], readonly ConfigurationProblem[]>> {
  const isBroken = (one: ConfigurationFile): boolean => one.content === undefined && one.problems.length > 0;
  if (file !== undefined && isBroken(file)) return refuse([...file.problems, ...problems]);
  const found: ConfigurationProblem[] = [];
  const override = overrides.findLast(({ path }) => path.join(".") === "include");
  const included = await readIncluded(override === undefined ? valueAt(file?.content, ["include"]) : override.value, {
    name,
    cwd,
    env,
    add(path, sentence) {
      const origin = override === undefined ? file?.positionOf(path, "value") : { file: override.name };
      const where = pathText(path);
      found.push({ file: "the configuration", ...origin, path: where, message: `${where}: ${sentence}` });
    },
  });
  const all = [...found, ...included.filter(isBroken).flatMap((one) => one.problems)];
  return all.length === 0 ? ok(included) : refuse([...(file?.problems ?? []), ...all, ...problems]);
}

/** The state of a load before the objects are added to the content. */
interface Loading {
  readonly input: ConfigurationInput;
  readonly hasFile: boolean;
  readonly files: AssembledFiles;
  readonly overridden: Overrides;
  /** The configuration file, as an absolute path. */
  readonly path: string | undefined;
  readonly directory: GeoWebCacheDirectory | undefined;
}

/**
 * Loads a configuration whose layers come from a file of GeoWebCache. GeoWebCache starts with layers that cannot work.
 * So such a layer stays in the file, is not served, and causes a warning. The layer that a request changes must be
 * valid.
 */
async function loadLeniently(
  content: unknown,
  objects: readonly ConfiguredObject[],
  loading: Loading,
): Promise<Result<Configuration, readonly ConfigurationProblem[]>> {
  const { changed } = loading.input;
  /** Returns whether a request changes a layer other than this layer. */
  const isOther = (name: string | undefined): boolean =>
    changed?.kind === "layer" && name !== undefined && name !== changed.name;
  const notServed = new Set<string>();
  const warnings: string[] = [];
  for (;;) {
    const loaded = await loadWith(content, objects, loading, notServed);
    if (loaded.ok) return ok({ ...loaded.value, warnings: [...loaded.value.warnings, ...warnings] });
    const layers = new Set(loaded.error.map(({ file }) => layerOfOrigin(objects, loading, file)));
    const isOfLayers = !layers.has(undefined) && !(changed?.kind === "layer" && layers.has(changed.name));
    if (!isOfLayers) {
      const own = loaded.error.filter(({ file }) => !isOther(layerOfOrigin(objects, loading, file)));
      // If a request caused the problems, the code that answers it adds the element names of the request's body.
      return refuse(changed === undefined ? own.map(inElements) : own);
    }
    for (const layer of layers) if (layer !== undefined) notServed.add(layer);
    for (const problem of loaded.error) warnings.push(`not served: ${problemText(inElements(problem))}`);
  }
}

/** Returns the layer that has a problem, found by its origin. Undefined if no layer has it. */
const layerOfOrigin = (
  objects: readonly ConfiguredObject[],
  { directory }: Loading,
  file: string,
): string | undefined =>
  objects.find((object) => object.kind === "layer" && originText(object, directory) === file)?.name;

/** Returns where an object is configured, for messages. */
const originText = (object: ConfiguredObject, directory: GeoWebCacheDirectory | undefined): string =>
  originOfObject(
    object,
    directory === undefined ? undefined : { file: directory.file, line: directory.lines.get(lineKey(object)) },
  );

/** Returns a problem of an object of GeoWebCache's file with paths of its elements. */
const inElements = (problem: ConfigurationProblem): ConfigurationProblem => ({
  ...problem,
  ...inObject(problem, "elements"),
});

async function loadWith(
  base: unknown,
  objects: readonly ConfiguredObject[],
  { input, hasFile, files, overridden, path: configurationPath, directory }: Loading,
  notServed: ReadonlySet<string>,
): Promise<Result<Configuration, readonly ConfigurationProblem[]>> {
  let content = base;
  // If there are objects, the demo layers are added to the content, like the layers of a file.
  const isDemo =
    !hasFile && directory === undefined && objects.length > 0 && isMap(content) && content["layers"] === undefined;
  if (isDemo) content = { ...DEMO_CONFIGURATION, ...(isMap(content) ? content : {}) };
  const { env } = input;
  const variables = directory === undefined ? undefined : replacedVariables(env);
  const added = withObjects(content, objects, {
    variables,
    notServed,
    directory: directory?.path,
    changed: input.changed?.kind === "layer" ? input.changed.name : undefined,
  });
  content = added.content;
  const overrideOf = (path: Path) => overridden.overrides.findLast((override) => isWithin(path, override.path));
  // `layerDefaults` may have supplied the value, and a variable or flag may have set it there.
  const overrideAt = (path: Path) => overrideOf(path) ?? overrideOf(files.pathIn(added.inFile(path)));
  const origins: Origins = {
    originOf(path, part) {
      const override = overrideAt(path);
      if (override !== undefined) return { file: override.name };
      const object = added.objectAt(path);
      if (object !== undefined) return { file: originText(object, directory) };
      return files.positionOf(added.inFile(path), part) ?? { file: "the configuration" };
    },
    directoryOf(path) {
      const { cwd } = input;
      const isOfFile = overrideAt(path) === undefined && added.objectAt(path) === undefined;
      if (!isOfFile || valueAt(content, path) === undefined) return cwd;
      const position = files.positionOf(added.inFile(path), "value");
      return position === undefined ? cwd : dirname(resolve(cwd, position.file));
    },
    pathIn: (path) =>
      overrideOf(path) === undefined && added.objectAt(path) === undefined ? files.pathIn(added.inFile(path)) : path,
    writtenAs: (path) => (overrideAt(path) === undefined ? files.writtenAs(added.inFile(path)) : undefined),
  };
  const problems = new Problems(origins);
  const warnings = [...overridden.warnings, ...(directory?.warnings ?? [])];
  const built = await build(content, {
    input,
    file: configurationPath,
    problems,
    origins,
    warnings,
    included: files.included,
    cameAsText: (path) => overrideAt(path) !== undefined || files.writtenAs(added.inFile(path)) !== undefined,
    objects,
    stores: { first: added.defaultStore, keepsDefault: added.keepsDefault },
    overridden: added.overridden,
    directory,
  });
  // If the variable of a text is not set, only this is reported, and not that the text is empty.
  const placeOf = ({ file, path }: ConfigurationProblem): string => JSON.stringify([file, path]);
  const reported = new Set(files.problems.map(placeOf));
  const found = [
    ...files.problems,
    ...overridden.problems,
    ...problems.list.filter((problem) => !reported.has(placeOf(problem))),
  ];
  if (found.length > 0) return refuse(found);
  return ok({ ...built, warnings: [...warnings, ...problems.warnings.map(problemText)] });
}

/** The problems and warnings of a configuration's text. A text without problems is valid. */
export interface TextReport {
  readonly problems: readonly ConfigurationProblem[];
  readonly warnings: readonly ConfigurationProblem[];
}

/**
 * Checks the text of a configuration alone: reads no variables and no files. Accepts all values that contain variables
 * or depend on files.
 */
export async function checkText(bytes: Buffer, name: string): Promise<TextReport> {
  const file = readBytes(name, bytes, undefined);
  if (file.content === undefined && file.problems.length > 0) return { problems: file.problems, warnings: [] };
  const files = assembleFiles(file, [], []);
  const origins: Origins = {
    originOf: (path, part) => files.positionOf(path, part) ?? { file: name },
    directoryOf: () => "/",
    pathIn: files.pathIn,
    writtenAs: files.writtenAs,
  };
  const problems = new Problems(origins);
  skipUnknown(file, files, problems);
  const warnings: string[] = [];
  await build(files.content, {
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

/** Skips values that the text alone does not define: values with variables, and items of included files. */
function skipUnknown({ content, withVariables }: ConfigurationFile, files: AssembledFiles, problems: Problems): void {
  const layers = valueAt(content, ["layers"]);
  const count = Array.isArray(layers) ? layers.length : 0;
  for (const path of withVariables) {
    problems.skip(path);
    const [section, ...rest] = path;
    for (let i = 0; section === "layerDefaults" && i < count; i++) {
      const inLayer = ["layers", i, ...rest];
      if (pathText(files.pathIn(inLayer)) === pathText(path)) problems.skip(inLayer);
    }
  }
  const include = valueAt(content, ["include"]);
  if (Array.isArray(include) && include.length > 0)
    for (const section of INCLUDED_LISTS) problems.skip([section, Number.MAX_SAFE_INTEGER]);
}
