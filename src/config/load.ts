import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { User } from "../http/options.ts";
import { isMap } from "../lib/is-map.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import type { Configuration } from "./configuration.ts";
import { demoLayers } from "./demo-configuration.ts";
import { readArchives } from "./internal/archives.ts";
import { buildDiskQuota } from "./internal/build-disk-quota.ts";
import { buildEviction } from "./internal/build-eviction.ts";
import { buildGridSets } from "./internal/build-grid-sets.ts";
import { buildLayers } from "./internal/build-layers.ts";
import { buildServer, isLoopback } from "./internal/build-server.ts";
import { administratorOf, buildUsers, parseHtpasswd } from "./internal/build-users.ts";
import { buildWebhooks } from "./internal/build-webhooks.ts";
import { checkReload, type RunningConfiguration } from "./internal/check-reload.ts";
import { type ConfigurationFile, readConfigurationFile, type Variables } from "./internal/configuration-file.ts";
import { conform } from "./internal/conform.ts";
import { lay, readOverrides } from "./internal/overrides.ts";
import { isWithin, type Origins, type Path, Problems } from "./internal/problems.ts";
import { readJsonFiles } from "./internal/read-json-files.ts";
import {
  CompatSchema,
  ConfigurationSchema,
  DiskQuotaSchema,
  EvictionSchema,
  GridSetSchema,
  HtpasswdSchema,
  JobsSchema,
  LayerSchema,
  ServerSchema,
  StoreSchema,
  UserSchema,
  WebhookSchema,
} from "./internal/schema.ts";
import { fits, type Shape } from "./internal/shape.ts";
import type { ConfigurationProblem } from "./problem.ts";

const NOBODY =
  "a loopback address while there is no user: everybody could manage this server; set NUTHATCH_ADMIN_PASSWORD, or name somebody under users:";

export type { RunningConfiguration };

export interface ConfigurationInput {
  readonly env: Variables;
  /** `config`, `host`, `port`, `data-dir`, or the path of a key (`jobs.maxRunningTasks`). */
  readonly flags: Readonly<Record<string, string>>;
  /** The directory to which relative paths refer. */
  readonly cwd: string;
  /** Given at a reload: facts of the server whose configuration is replaced. */
  readonly running?: RunningConfiguration;
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
  const laid = readOverrides(env, flags);
  const unplaced = laid.problems.map(
    ({ name: from, path, message }): ConfigurationProblem => ({
      file: from,
      line: undefined,
      column: undefined,
      path,
      value: undefined,
      message,
    }),
  );
  // A file that is not valid YAML has no content to check further.
  if (file !== undefined && file.content === undefined && file.problems.length > 0)
    return refuse([...file.problems, ...unplaced]);

  let content: unknown = file?.content ?? {};
  // A content that is not a map is reported as such below. Overrides would turn it into a map and hide the problem.
  if (isMap(content)) for (const { path, value } of laid.overrides) content = lay(content, path, value);
  const overrideAt = (path: Path) => laid.overrides.findLast((override) => isWithin(path, override.path));
  const origins: Origins = {
    originOf(path, part) {
      const override = overrideAt(path);
      if (override !== undefined) return { file: override.name, line: undefined, column: undefined };
      return file?.positionOf(path, part) ?? { file: "the configuration", line: undefined, column: undefined };
    },
    writtenAs: (path) => (overrideAt(path) === undefined ? file?.writtenAs(path) : undefined),
  };
  const problems = new Problems(origins);
  const warnings = [...laid.warnings];
  const built = await build(content, {
    input,
    file: name === undefined ? undefined : resolve(cwd, name),
    problems,
    warnings,
    cameAsText: (path) => overrideAt(path) !== undefined || file?.writtenAs(path) !== undefined,
  });
  // A text whose variable is not set is reported once: its emptiness is not a second problem.
  const told = new Set((file?.problems ?? []).map(({ path }) => path));
  const found = [...(file?.problems ?? []), ...unplaced, ...problems.list.filter(({ path }) => !told.has(path))];
  return found.length > 0 ? refuse(found) : ok(freeze(built));
}

async function readNamed(name: string, cwd: string, env: Variables): Promise<ConfigurationFile> {
  const origin = { file: name, line: undefined, column: undefined };
  try {
    return readConfigurationFile(name, await readFile(resolve(cwd, name), "utf8"), env);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return {
      content: undefined,
      problems: [{ ...origin, path: "", value: undefined, message: `the configuration cannot be read: ${why}` }],
      positionOf: () => origin,
      writtenAs: () => undefined,
    };
  }
}

interface Building {
  readonly input: ConfigurationInput;
  readonly file: string | undefined;
  readonly problems: Problems;
  readonly warnings: string[];
  cameAsText(path: Path): boolean;
}

async function build(content: unknown, building: Building): Promise<Configuration> {
  const { input, problems, warnings, file } = building;
  const shaped = conform(ConfigurationSchema, content, [], building);
  const root = isMap(shaped) ? shaped : {};
  /** Returns a section; undefined if it is absent or has problems, which have been reported already. */
  const section = <T extends Shape>(schema: T, key: string) => {
    const value = root[key];
    return !problems.within([key]) && fits(schema, value) ? value : undefined;
  };
  /** Returns the items of a list. An item of the wrong shape is undefined. */
  const items = <T extends Shape>(schema: T, key: string) => {
    const value = root[key];
    const list: readonly unknown[] = Array.isArray(value) ? value : [];
    return list.map((item, i) => (!problems.within([key, i]) && fits(schema, item) ? item : undefined));
  };

  const server = buildServer(section(ServerSchema, "server") ?? {}, ["server"], problems);
  const dataDir = typeof root["dataDir"] === "string" ? root["dataDir"] : "data";
  const gridSetDocuments = items(GridSetSchema, "gridSets");
  const readDocument = await readJsonFiles(
    gridSetDocuments.flatMap((document) => document?.tileMatrixSet ?? []),
    input.cwd,
  );
  const gridSets = buildGridSets(gridSetDocuments, ["gridSets"], problems, readDocument);
  const declared = new Set([...idsOf(root["gridSets"]), ...gridSets.keys()]);
  const demo = file === undefined && root["layers"] === undefined;
  const documents = items(LayerSchema, "layers");
  const archives = await readArchives(documents, input.cwd);
  const layers = demo
    ? demoLayers()
    : buildLayers(documents, ["layers"], { gridSets, declared, archives, problems, warnings });
  if (layers.length === 0) warnings.push("no layers are configured");
  const users = await usersOf(building, items(UserSchema, "users"), section(HtpasswdSchema, "htpasswd"));
  if (users.length === 0 && !problems.within(["users"]) && !problems.within(["server"]) && !isLoopback(server.host))
    problems.expected(["server", "host"], NOBODY, server.host);
  if (input.running !== undefined)
    checkReload(input.running, { users: users.length, hasLayers: demo || root["layers"] !== undefined }, problems);
  const diskQuota = section(DiskQuotaSchema, "diskQuota") ?? {};
  const eviction = section(EvictionSchema, "eviction") ?? {};
  const known = layers.map((layer) => layer.name);
  return {
    file,
    server,
    dataDir: resolve(input.cwd, dataDir),
    users,
    layers,
    jobs: {
      maxRunningTasks: 32,
      maxThreadCount: 128,
      outageLimitSeconds: 3600,
      historyDays: 30,
      historyJobs: 1_000_000,
      historyMiB: 1024,
      ...section(JobsSchema, "jobs"),
    },
    compat: { quotaRoot: "cacheQuotaConfiguration", quotaForm: "value-units", ...section(CompatSchema, "compat") },
    store: { fsync: false, shared: false, undoSeconds: 600, ...section(StoreSchema, "store") },
    // If layers have problems, references to them are not checked: an invalid layer would be reported as unknown too.
    diskQuota: problems.within(["layers"])
      ? buildDiskQuota({ ...diskQuota, layerQuotas: [] }, [], ["diskQuota"], problems)
      : buildDiskQuota(diskQuota, known, ["diskQuota"], problems),
    eviction: problems.within(["layers"])
      ? buildEviction({ ...eviction, pins: [], floors: [] }, [], ["eviction"], problems)
      : buildEviction(eviction, layers, ["eviction"], problems),
    webhooks: buildWebhooks(
      items(WebhookSchema, "webhooks"),
      problems.within(["layers"]) ? undefined : known,
      ["webhooks"],
      problems,
    ),
    warnings,
  };
}

const idsOf = (list: unknown): string[] =>
  (Array.isArray(list) ? list : []).flatMap((item: unknown) =>
    isMap(item) && typeof item["id"] === "string" ? [item["id"]] : [],
  );

async function usersOf(
  { input, problems, warnings }: Building,
  documents: Parameters<typeof buildUsers>[0],
  htpasswd: { readonly file: string; readonly roles?: User["roles"] } | undefined,
): Promise<readonly User[]> {
  const users = new Map<string, User>();
  const add = (more: readonly User[]): void => {
    for (const user of more) users.set(user.name, user);
  };
  if (htpasswd !== undefined) {
    try {
      const text = await readFile(resolve(input.cwd, htpasswd.file), "utf8");
      add(parseHtpasswd(text, htpasswd.roles ?? ["admin"], htpasswd.file, warnings));
    } catch (error) {
      problems.add(["htpasswd", "file"], `cannot be read: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  add(await buildUsers(documents, ["users"], problems, warnings));
  const administrator = await administratorOf(input.env, problems);
  if (administrator !== undefined) add([administrator]);
  if (htpasswd !== undefined && users.size === 0 && !problems.within(["htpasswd"]))
    problems.add(["htpasswd", "file"], `${htpasswd.file} names nobody: everybody could manage this server`);
  return [...users.values()];
}

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) freeze(inner);
  }
  return value;
}
