import PQueue from "p-queue";
import { gridSetTag } from "../../grid/grid-set-document.ts";
import { catalogueOf, changedGridSets, changedLayers } from "../../layer/catalogue.ts";
import { asLayerName, type LayerName } from "../../layer/tile-set.ts";
import { errorMessage } from "../../lib/error-code.ts";
import type { Logger } from "../../lib/process/logger.ts";
import type { Refusal } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { LATE, unlessLate } from "../../lib/time/late.ts";
import { machineClock } from "../../lib/time/machine-clock.ts";
import { storeTag } from "../../store/store-configuration.ts";
import type { Configuration } from "../configuration.ts";
import type { ConfigurationInput, RunningConfiguration } from "../configuration-input.ts";
import {
  type ConfiguredObject,
  changedObjects,
  changesOf,
  type ObjectChange,
  type ObjectEffect,
} from "../gwc/configured-object.ts";
import { layerContent } from "../gwc/layer-object.ts";
import { objectText } from "../gwc/object-origin.ts";
import { layerTag } from "../layer-configuration.ts";
import { type ConfigurationProblem, problemText } from "../problem.ts";
import { relocatedLayers } from "../store-locations.ts";
import { type Checked, type LayerUpdate, withLayer } from "./layer-update.ts";
import { mergeReloaded } from "./merge-reloaded.ts";

/** Loads the configuration that will replace the configuration of the running server. */
export type LoadConfiguration = (
  running: RunningConfiguration,
  more: Pick<ConfigurationInput, "objects" | "changed">,
) => Promise<Result<Configuration, readonly ConfigurationProblem[]>>;

/** The processes of a server, which have copies of the configuration. */
export interface ConfiguredProcesses {
  /** Finishes copying the layers that get another store, and then runs `tell`. */
  readonly withMoves: (next: Configuration, tell: () => Promise<void>) => Promise<void>;
  /** Tells all processes a configuration. */
  readonly configure: (next: Configuration, before: Configuration) => Promise<void>;
  /** Tells all processes the change of one layer. `next` is the configuration after it. */
  readonly configureLayer: (update: LayerUpdate, next: Configuration) => Promise<void>;
  /** Tells a configuration to all processes but the coordinator. */
  readonly configureServing: (next: Configuration) => Promise<void>;
}

export interface InForceParts {
  readonly processes: ConfiguredProcesses;
  /** Reads the configuration file, and adds objects: the given objects, else the objects of the configuration. */
  readonly load: LoadConfiguration;
  /** Checks the change of one layer. Undefined if only a load of the whole configuration can check it. */
  readonly changeLayer: (
    current: Configuration,
    change: ObjectChange,
  ) => Promise<Result<Checked<LayerUpdate>, readonly ConfigurationProblem[]> | undefined>;
  /** Prepares a configuration before it is stored, for example makes the directories of new stores. */
  readonly prepare: (next: Configuration, current: Configuration) => Promise<Result<null, Refusal>>;
  /** Prepares the stores of a configuration with the objects of the last server. */
  readonly prepareStored: (next: Configuration) => Promise<void>;
  /** Stores changes of objects. If a layer is removed, also records that its tiles must be truncated. */
  readonly store: (changes: readonly ObjectChange[]) => Promise<Result<null, Refusal>>;
  /** Truncates the tiles of a removed layer. `by` is the account. */
  readonly truncateRemoved: (layer: LayerName, by: string | null) => Promise<void>;
  /** Returns warnings of settings of the file that settings made over HTTP overrule. */
  readonly overruled: () => Promise<readonly string[]>;
  readonly log: Logger;
}

/** Time to prepare a store, because its directory may be on a hanging file system. */
const PREPARE_MS = 15_000;
const NOT_PREPARED: Refusal = {
  code: "unavailable",
  message: `The stores of the configuration do not answer within ${PREPARE_MS / 1000} seconds, and nothing was changed.`,
};

const changedByAnother = (change: ObjectChange): Refusal => ({
  code: "precondition_failed",
  message: `Another request has changed or created ${objectText(change)} since you read it: read it again, and repeat your change if you still want it.`,
});

/**
 * The configuration of a running server, and the queue of its changes. They run one after the other, in the order of
 * the requests. Each reads the file when it starts, so no change restores an older file, and each answer describes the
 * file that was read for it. A change of a single layer reads no file.
 */
export class ConfigurationInForce {
  readonly #parts: InForceParts;
  readonly #queue = new PQueue({ concurrency: 1 });
  #current: Configuration;

  constructor(initial: Configuration, parts: InForceParts) {
    this.#current = initial;
    this.#parts = parts;
  }

  get current(): Configuration {
    return this.#current;
  }

  /** Reloads the configuration. Logs and returns its warnings. */
  reload(): Promise<Result<readonly string[], Refusal>> {
    return this.#queue.add(() => this.#reload());
  }

  /** Changes an object: checks it with the whole configuration, stores it, and tells the processes. */
  change(change: ObjectChange, by: string | null): Promise<Result<null, Refusal>> {
    return this.#queue.add(() => this.#change(change, by));
  }

  /** Checks a change of an object, and returns its effect. Changes nothing. */
  preview(change: ObjectChange): Promise<Result<ObjectEffect, Refusal>> {
    return this.#queue.add(async () => {
      const checked = await this.#check(change);
      return checked.ok ? ok(this.#effectOf(checked.value.next)) : checked;
    });
  }

  /** Adds the objects that the state database has at a start. Tells all processes but the coordinator, which asks. */
  takeStored(objects: readonly ConfiguredObject[]): Promise<Result<Configuration, string>> {
    return this.#queue.add(async () => {
      const { log, processes, prepareStored } = this.#parts;
      if (this.#current.geowebcache !== undefined) {
        log.warn("objects that were made over HTTP are not used: the directory of GeoWebCache has the configuration", {
          objects: objects.length,
        });
        return ok(this.#current);
      }
      const loaded = await this.#load({ objects });
      if (!loaded.ok) return refuse(loaded.error.map(problemText).join("\n"));
      await prepareStored(loaded.value);
      this.#current = mergeReloaded(loaded.value, this.#current).merged;
      await processes.configureServing(this.#current);
      return ok(this.#current);
    });
  }

  #load(more: Pick<ConfigurationInput, "objects" | "changed">): ReturnType<LoadConfiguration> {
    const { users, layers } = this.#current;
    return this.#parts.load({ users: users.length, layers: layers.length }, more);
  }

  /** Returns the keys whose change needs a restart. */
  async #apply(next: Configuration): Promise<readonly string[]> {
    const before = this.#current;
    const { merged, ignored } = mergeReloaded(next, before);
    const { processes } = this.#parts;
    await processes.withMoves(merged, async () => {
      this.#current = merged;
      await processes.configure(merged, before);
    });
    return ignored;
  }

  async #applyLayer(update: LayerUpdate): Promise<void> {
    this.#current = withLayer(this.#current, update);
    await this.#parts.processes.configureLayer(update, this.#current);
  }

  async #check(change: ObjectChange): Promise<Result<Checked<Configuration | LayerUpdate>, Refusal>> {
    if (change.expected !== undefined && change.expected !== this.#tagOf(change))
      return refuse(changedByAnother(change));
    const { kind, name } = change;
    const { objects, warnings } = this.#current;
    const layer = this.#mayMove(change) ? undefined : await this.#parts.changeLayer(this.#current, change);
    if (layer?.ok === true) return layer;
    const objectsAfter = () => changesOf(objects, change).reduce(changedObjects, objects);
    const loaded = layer ?? (await this.#load({ objects: objectsAfter(), changed: { kind, name } }));
    if (!loaded.ok) return refuse(notValid("The configuration is not valid with this change.", loaded.error));
    const known = new Set(warnings);
    return ok({ next: loaded.value, warnings: loaded.value.warnings.filter((warning) => !known.has(warning)) });
  }

  async #change(change: ObjectChange, by: string | null): Promise<Result<null, Refusal>> {
    const { prepare, store, truncateRemoved, log } = this.#parts;
    const checked = await this.#check(change);
    if (!checked.ok) return checked;
    const { next, warnings } = checked.value;
    const prepared =
      "made" in next ? ok(null) : await unlessLate(machineClock, prepare(next, this.#current), PREPARE_MS);
    if (prepared === LATE) return refuse(NOT_PREPARED);
    if (!prepared.ok) return prepared;
    const stored = await store(changesOf(this.#current.objects, change));
    if (!stored.ok) return stored;
    const { kind, name, document } = change;
    try {
      if ("made" in next) await this.#applyLayer(next);
      else await this.#apply(next);
      // In the same turn, because a later change may make a layer with this name, whose tiles must stay.
      if (kind === "layer" && document === undefined) await truncateRemoved(asLayerName(name), by);
    } catch (fault) {
      return refuse(this.#notCompleted("The change is recorded and in force", fault));
    } finally {
      log.info("the configuration has been changed over HTTP", { kind, name, removed: document === undefined });
      for (const warning of warnings) log.warn(warning);
    }
    return ok(null);
  }

  async #reload(): Promise<Result<readonly string[], Refusal>> {
    const { overruled, log } = this.#parts;
    // A file of GeoWebCache has the objects too.
    const { geowebcache, objects } = this.#current;
    const loaded = await this.#load(geowebcache === undefined ? { objects } : {});
    if (!loaded.ok) {
      const refusal = notValid("The configuration is not valid and was not loaded.", loaded.error);
      log.error("the configuration was not reloaded", { problems: refusal.details });
      return refuse(refusal);
    }
    const next = loaded.value;
    let ignored: readonly string[];
    try {
      ignored = await this.#apply(next);
    } catch (fault) {
      return refuse(this.#notCompleted("The configuration has been reloaded", fault));
    }
    for (const warning of next.warnings) log.warn(warning);
    for (const key of ignored) log.warn("this change needs a restart", { key });
    log.info("the configuration has been reloaded", { layers: next.layers.length });
    const others = await overruled();
    for (const warning of others) log.warn(warning);
    return ok([...next.warnings, ...ignored.map((key) => `${key} changes at the next start`), ...others]);
  }

  /** Returns the answer to a change that was stored, but whose completion failed. */
  #notCompleted(done: string, fault: unknown): Refusal {
    this.#parts.log.error("a change of the configuration could not be completed", { error: String(fault) });
    return {
      code: "unavailable",
      message: `${done}, but a fault has kept the server from completing its effects: ${errorMessage(fault)}. The same request, or the next start, completes it.`,
    };
  }

  /** Returns whether a change may give a layer another store. Then the last changes must be copied before. */
  #mayMove({ name, document }: ObjectChange): boolean {
    if (this.#current.stores.length < 2 || document === undefined) return false;
    const { store } = layerContent(document);
    const before = this.#current.layers.find((layer) => layer.name === name);
    return before === undefined || before.store !== store;
  }

  /** Returns the tag of an object. Null if the object does not exist. */
  #tagOf({ kind, name }: Pick<ObjectChange, "kind" | "name">): string | null {
    const { layers, gridSets, stores } = this.#current;
    const layer = kind === "layer" ? layers.find((one) => one.name === name) : undefined;
    const gridSet = kind === "gridSet" ? gridSets.find(({ id }) => id === name) : undefined;
    const store = kind === "store" ? stores.find(({ id }) => id === name) : undefined;
    return (layer && layerTag(layer)) ?? (gridSet && gridSetTag(gridSet)) ?? (store && storeTag(store)) ?? null;
  }

  #effectOf(next: Configuration | LayerUpdate): ObjectEffect {
    const { layers: before } = this.#current;
    const whole = "made" in next ? withLayer(this.#current, next) : next;
    const { layers: after } = whole;
    return {
      layers: [...new Set([...changedLayers(before, after), ...changedLayers(after, before)])],
      moved: changedGridSets(catalogueOf(before), catalogueOf(after)),
      relocated: relocatedLayers(this.#current, whole),
    };
  }
}

const notValid = (message: string, problems: readonly ConfigurationProblem[]) => ({
  code: "bad_configuration" as const,
  message,
  details: problems.map(problemText),
  problems,
});
