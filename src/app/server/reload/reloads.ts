import { isDeepStrictEqual } from "node:util";
import PQueue from "p-queue";
import type { Configuration } from "../../../configuration/configuration.ts";
import type { ConfigurationInput } from "../../../configuration/configuration-input.ts";
import {
  type ConfiguredObject,
  changedObjects,
  changesOf,
  type ObjectChange,
  type ObjectEffect,
} from "../../../configuration/gwc/configured-object.ts";
import type { CheckedLayer, LayerUpdate } from "../../../configuration/layer-update.ts";
import { type ConfigurationProblem, problemText } from "../../../configuration/problem.ts";
import type { Layer } from "../../../layer/layer.ts";
import { asLayerName, type LayerName } from "../../../layer/tile-set.ts";
import { errorMessage } from "../../../lib/error-code.ts";
import type { Logger } from "../../../lib/process/logger.ts";
import type { Refusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { LATE, unlessLate } from "../../../lib/time/late.ts";
import type { StoreOptions } from "../../../store/store-options.ts";

/**
 * Merges a reloaded configuration into the configuration of the running server.
 * @returns the merged configuration, and the keys whose change needs a restart
 */
export function mergeReloaded(
  next: Configuration,
  current: Configuration,
): { readonly merged: Configuration; readonly ignored: readonly string[] } {
  const { host, port, workers, memoryTierMiB } = current.server;
  const stores = mergedStores(next, current);
  const server = { ...next.server, host, port, workers, memoryTierMiB };
  const ignored = [
    ...(["dataDir", "state", "store", "cluster"] as const).filter((key) => !isDeepStrictEqual(next[key], current[key])),
    ...(stores === next.stores ? [] : ["stores"]),
    ...(["host", "port", "workers", "memoryTierMiB"] as const)
      .filter((key) => next.server[key] !== server[key])
      .map((key) => `server.${key}`),
  ];
  const { dataDir, state, store, cluster } = current;
  const { cluster: _, ...rest } = next;
  const layers = stores === next.stores ? next.layers : inPresentStores(next.layers, { ...current, stores });
  const kept = { server, dataDir, state, store, stores, ...(cluster === undefined ? {} : { cluster }) };
  return { merged: { ...rest, ...kept, layers }, ignored };
}

/**
 * Returns the stores in use after a reload. Stores of the file keep their present options, because changes of them need
 * a restart. Stores made over HTTP get their new options.
 */
function mergedStores(next: Configuration, current: Configuration): readonly StoreOptions[] {
  const made = madeStores(next);
  const before = madeStores(current);
  const ofFile = current.stores.filter(({ id }) => !before.has(id));
  if (
    isDeepStrictEqual(
      next.stores.filter(({ id }) => !made.has(id)),
      ofFile,
    )
  )
    return next.stores;
  const [first] = next.stores;
  const added = next.stores.filter(({ id }) => made.has(id));
  return first !== undefined && made.has(first.id)
    ? [first, ...ofFile, ...added.filter((store) => store !== first)]
    : [...ofFile, ...added];
}

const madeStores = ({ objects }: Configuration): ReadonlySet<string> =>
  new Set(objects.flatMap(({ kind, name, document }) => (kind === "store" && document !== undefined ? [name] : [])));

/**
 * Returns the layers with their present stores. Until the restart that changes the stores, no layer moves to another
 * present store.
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
  /** Returns the objects in force that were made over HTTP. */
  readonly objects: () => readonly ConfiguredObject[];
  /** Reads the configuration file, and adds objects: the given objects, else the objects of the configuration. */
  readonly load: (
    more: Pick<ConfigurationInput, "objects" | "changed">,
  ) => Promise<Result<Configuration, readonly ConfigurationProblem[]>>;
  /** Whether a reload reads the objects from a file of GeoWebCache. */
  readonly readsObjects: boolean;
  /** Applies a configuration, and returns the keys whose change needs a restart. */
  readonly apply: (next: Configuration) => Promise<readonly string[]>;
  /** Checks the change of one layer. Undefined if only a load of the whole configuration can check it. */
  readonly changeLayer: (
    change: ObjectChange,
  ) => Promise<Result<CheckedLayer, readonly ConfigurationProblem[]> | undefined>;
  /** Returns the warnings of the configuration in force. */
  readonly warnings: () => readonly string[];
  readonly applyLayer: (update: LayerUpdate) => Promise<void>;
  /** Returns the tag of an object in force. Null if the object does not exist. */
  readonly tagOf: (object: Pick<ObjectChange, "kind" | "name">) => string | null;
  /** Returns the effect of a checked change. */
  readonly effectOf: (next: Configuration | LayerUpdate) => ObjectEffect;
  /** Prepares a configuration before it is stored, for example makes the directories of new stores. */
  readonly prepare: (next: Configuration) => Promise<Result<null, Refusal>>;
  /** Stores changes of objects. If a layer is removed, also records that its tiles must be truncated. */
  readonly store: (changes: readonly ObjectChange[]) => Promise<Result<null, Refusal>>;
  /** Truncates the tiles of a removed layer. `by` is the account. */
  readonly truncateRemoved: (layer: LayerName, by: string | null) => Promise<void>;
  /** Returns warnings of settings of the file that settings made over HTTP overrule. */
  readonly overruled: () => Promise<readonly string[]>;
  readonly log: Logger;
}

export interface ConfigurationChanges {
  /** Reloads the configuration. Logs and returns its warnings. */
  readonly reload: () => Promise<Result<readonly string[], Refusal>>;
  /** Changes an object: checks it with the whole configuration, stores it, and applies the configuration. */
  readonly changeObject: (change: ObjectChange, by: string | null) => Promise<Result<null, Refusal>>;
  /** Checks a change of an object, and returns its effect. Changes nothing. */
  readonly previewObject: (change: ObjectChange) => Promise<Result<ObjectEffect, Refusal>>;
  /** Runs `load`, which replaces the configuration, after all earlier changes are in force. */
  readonly replace: <T>(load: () => Promise<T>) => Promise<T>;
}

/** The configuration after a change, and the additional warnings. */
interface Checked {
  readonly next: Configuration | LayerUpdate;
  readonly warnings: readonly string[];
}

/** Time to prepare a store, because its directory may be on a hanging file system. */
const PREPARE_MS = 15_000;
const NOT_PREPARED: Refusal = {
  code: "unavailable",
  message: `The stores of the configuration do not answer within ${PREPARE_MS / 1000} seconds, and nothing was changed.`,
};

const CHANGED: Refusal = {
  code: "precondition_failed",
  message:
    "Another request has changed or created it since you read it: read it again, and repeat the change if you still want it.",
};

/**
 * Returns the changes of one server's configuration. They run one after the other, in the order of the requests. Each
 * reads the file when it starts, so no change restores an older file, and each answer describes the file that was read
 * for it. A change of a single layer reads no file.
 */
export function configurationChanges(parts: ChangedParts): ConfigurationChanges {
  const { objects, load, readsObjects, apply, changeLayer, applyLayer, tagOf, effectOf, prepare, store, log } = parts;
  const queue = new PQueue({ concurrency: 1 });
  const check = async (change: ObjectChange): Promise<Result<Checked, Refusal>> => {
    if (change.expected !== undefined && change.expected !== tagOf(change)) return refuse(CHANGED);
    const { kind, name } = change;
    const whole = () =>
      load({ objects: changesOf(objects(), change).reduce(changedObjects, objects()), changed: { kind, name } });
    const known = new Set(parts.warnings());
    const layer = await changeLayer(change);
    if (layer?.ok === true) return ok({ next: layer.value.update, warnings: layer.value.warnings });
    const loaded = layer ?? (await whole());
    if (loaded.ok)
      return ok({ next: loaded.value, warnings: loaded.value.warnings.filter((warning) => !known.has(warning)) });
    return refuse({
      code: "bad_configuration",
      message: "The configuration is not valid with this change.",
      details: loaded.error.map(problemText),
      problems: loaded.error,
    });
  };
  const changeObject = async (change: ObjectChange, by: string | null): Promise<Result<null, Refusal>> => {
    const checked = await check(change);
    if (!checked.ok) return checked;
    const { next, warnings } = checked.value;
    const prepared = "made" in next ? ok(null) : await unlessLate(prepare(next), PREPARE_MS);
    if (prepared === LATE) return refuse(NOT_PREPARED);
    if (!prepared.ok) return prepared;
    const stored = await store(changesOf(objects(), change));
    if (!stored.ok) return stored;
    const { kind, name, document } = change;
    try {
      if ("made" in next) await applyLayer(next);
      else await apply(next);
      // In the same turn, because a later change may make a layer with this name, whose tiles must stay.
      if (kind === "layer" && document === undefined) await parts.truncateRemoved(asLayerName(name), by);
    } catch (fault) {
      return refuse(notCompleted("The change is recorded and in force", fault));
    } finally {
      log.info("the configuration has been changed over HTTP", { kind, name, removed: document === undefined });
      for (const warning of warnings) log.warn(warning);
    }
    return ok(null);
  };
  /** Returns the answer to a change that was stored, but whose completion failed. */
  const notCompleted = (done: string, fault: unknown): Refusal => {
    log.error("a change of the configuration could not be completed", { error: String(fault) });
    return {
      code: "unavailable",
      message: `${done}, but a fault has kept the server from completing its effects: ${errorMessage(fault)}. The same request, or the next start, completes it.`,
    };
  };
  const reload = async (): Promise<Result<readonly string[], Refusal>> => {
    const loaded = await load(readsObjects ? {} : { objects: objects() });
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
    let ignored: readonly string[];
    try {
      ignored = await apply(next);
    } catch (fault) {
      return refuse(notCompleted("The configuration has been reloaded", fault));
    }
    for (const warning of next.warnings) log.warn(warning);
    for (const key of ignored) log.warn("this change needs a restart", { key });
    log.info("the configuration has been reloaded", { layers: next.layers.length });
    const overruled = await parts.overruled();
    for (const warning of overruled) log.warn(warning);
    return ok([...next.warnings, ...ignored.map((key) => `${key} changes at the next start`), ...overruled]);
  };
  const previewObject = async (change: ObjectChange): Promise<Result<ObjectEffect, Refusal>> => {
    const loaded = await check(change);
    return loaded.ok ? ok(effectOf(loaded.value.next)) : loaded;
  };
  return {
    reload: () => queue.add(reload),
    changeObject: (change, by) => queue.add(() => changeObject(change, by)),
    previewObject: (change) => queue.add(() => previewObject(change)),
    replace: (load) => queue.add(load),
  };
}
