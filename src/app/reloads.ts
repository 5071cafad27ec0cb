import { isDeepStrictEqual } from "node:util";
import PQueue from "p-queue";
import type { Configuration } from "../config/configuration.ts";
import type { LayerUpdate } from "../config/layer-update.ts";
import { type ConfigurationProblem, problemText } from "../config/problem.ts";
import {
  type ConfiguredObject,
  changedObjects,
  type ObjectChange,
  type ObjectEffect,
} from "../gwc/configured-object.ts";
import type { Layer } from "../layer/layer.ts";
import type { Logger } from "../lib/logger.ts";
import type { Refusal } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";

/**
 * Merges a configuration that was loaded again into the one of the running server.
 * @returns the merged configuration, and the keys whose change needs a restart
 */
export function mergeReloaded(
  next: Configuration,
  current: Configuration,
): { readonly merged: Configuration; readonly ignored: readonly string[] } {
  const { host, port, workers, memoryTierMiB } = current.server;
  const server = { ...next.server, host, port, workers, memoryTierMiB };
  const ignored = [
    ...(["dataDir", "state", "store", "stores", "cluster"] as const).filter(
      (key) => !isDeepStrictEqual(next[key], current[key]),
    ),
    ...(["host", "port", "workers", "memoryTierMiB"] as const)
      .filter((key) => next.server[key] !== server[key])
      .map((key) => `server.${key}`),
  ];
  const { dataDir, state, store, stores, cluster } = current;
  const { cluster: _, ...rest } = next;
  const layers = isDeepStrictEqual(next.stores, stores) ? next.layers : inPresentStores(next.layers, current);
  const kept = { server, dataDir, state, store, stores, ...(cluster === undefined ? {} : { cluster }) };
  return { merged: { ...rest, ...kept, layers }, ignored };
}

/**
 * Returns the layers with the stores that they have at the moment. Until the restart that changes the stores, no layer
 * moves to another one of the present stores.
 */
function inPresentStores(layers: readonly Layer[], { layers: present, stores }: Configuration): readonly Layer[] {
  const presentStore = new Map(present.map(({ name, store }) => [name, store]));
  const known = new Set(stores.map(({ id }) => id));
  return layers.map(({ store: wanted, ...layer }) => {
    const store = presentStore.has(layer.name) ? presentStore.get(layer.name) : wanted;
    return store !== undefined && known.has(store) ? { ...layer, store } : layer;
  });
}

export interface ChangedParts {
  /** Returns what was made over HTTP, as in force. */
  readonly objects: () => readonly ConfiguredObject[];
  /** Reads the configuration file, and adds the objects. */
  readonly load: (
    objects: readonly ConfiguredObject[],
  ) => Promise<Result<Configuration, readonly ConfigurationProblem[]>>;
  /** Applies a configuration, and returns the keys whose change needs a restart. */
  readonly apply: (next: Configuration) => Promise<readonly string[]>;
  /** Checks the change of one layer; undefined: only a load of the whole configuration can check the change. */
  readonly changeLayer: (
    change: ObjectChange,
  ) => Promise<Result<LayerUpdate, readonly ConfigurationProblem[]> | undefined>;
  readonly applyLayer: (update: LayerUpdate) => Promise<void>;
  /** Returns the tag of a layer or grid set in force; null: there is none. */
  readonly tagOf: (object: Pick<ObjectChange, "kind" | "name">) => string | null;
  /** Returns what a change would do that has been checked. */
  readonly effectOf: (next: Configuration | LayerUpdate) => ObjectEffect;
  /** Stores a change of an object. */
  readonly store: (change: ObjectChange) => Promise<void>;
  readonly log: Logger;
}

export interface ConfigurationChanges {
  /** Reloads the configuration, and returns its warnings, which are logged too. */
  readonly reload: () => Promise<Result<readonly string[], Refusal>>;
  /** Changes an object: checks it with the whole configuration, stores it, and applies the configuration. */
  readonly changeObject: (change: ObjectChange) => Promise<Result<null, Refusal>>;
  /** Checks a change of an object, and returns what it would do. */
  readonly previewObject: (change: ObjectChange) => Promise<Result<ObjectEffect, Refusal>>;
}

const CHANGED: Refusal = {
  code: "precondition_failed",
  message: "It has changed since it was read, or is new: read it again, and decide whether the change is still meant.",
};

/**
 * Returns the changes of the configuration of one server. They run in sequence, in the order of the requests. Each reads
 * the file when its turn has come, so that none replaces a newer file by an older one. Each answer is about the file
 * that was read for it. The change of a layer alone reads no file.
 */
export function configurationChanges({
  objects,
  load,
  apply,
  changeLayer,
  applyLayer,
  tagOf,
  effectOf,
  store,
  log,
}: ChangedParts): ConfigurationChanges {
  const turns = new PQueue({ concurrency: 1 });
  const check = async (change: ObjectChange): Promise<Result<Configuration | LayerUpdate, Refusal>> => {
    if (change.expected !== undefined && change.expected !== tagOf(change)) return refuse(CHANGED);
    const update = await changeLayer(change);
    const loaded = update === undefined ? await load(changedObjects(objects(), change)) : update;
    if (loaded.ok) return loaded;
    return refuse({
      code: "bad_configuration",
      message: "The configuration is not valid with this change.",
      details: loaded.error.map(problemText),
      problems: loaded.error,
    });
  };
  const changeObject = async (change: ObjectChange): Promise<Result<null, Refusal>> => {
    const loaded = await check(change);
    if (!loaded.ok) return loaded;
    await store(change);
    if ("made" in loaded.value) await applyLayer(loaded.value);
    else await apply(loaded.value);
    const { kind, name, document } = change;
    log.info("the configuration has been changed over HTTP", { kind, name, removed: document === undefined });
    return ok(null);
  };
  const reload = async (): Promise<Result<readonly string[], Refusal>> => {
    const loaded = await load(objects());
    if (!loaded.ok) {
      const details = loaded.error.map(problemText);
      log.error("the configuration was not reloaded", { problems: details });
      return refuse({
        code: "bad_configuration",
        message: "The configuration is not valid and was not loaded.",
        details,
        problems: loaded.error,
      });
    }
    const next = loaded.value;
    const ignored = await apply(next);
    for (const warning of next.warnings) log.warn(warning);
    for (const key of ignored) log.warn("this change needs a restart", { key });
    log.info("the configuration has been reloaded", { layers: next.layers.length });
    return ok([...next.warnings, ...ignored.map((key) => `${key} changes at the next start`)]);
  };
  const previewObject = async (change: ObjectChange): Promise<Result<ObjectEffect, Refusal>> => {
    const loaded = await check(change);
    return loaded.ok ? ok(effectOf(loaded.value)) : loaded;
  };
  return {
    reload: () => turns.add(reload),
    changeObject: (change) => turns.add(() => changeObject(change)),
    previewObject: (change) => turns.add(() => previewObject(change)),
  };
}
