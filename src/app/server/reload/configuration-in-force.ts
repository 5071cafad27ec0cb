import { isDeepStrictEqual } from "node:util";
import { type Configuration, coordinatorConfiguration } from "../../../configuration/configuration.ts";
import { gridSetTag, layerTag } from "../../../configuration/configuration-tag.ts";
import type { ObjectChange, ObjectEffect } from "../../../configuration/gwc/configured-object.ts";
import { layerContent } from "../../../configuration/gwc/layer-object.ts";
import { type LayerUpdate, withLayer } from "../../../configuration/layer-update.ts";
import { catalogueOf, changedGridSets, changedLayers } from "../../../layer/catalogue.ts";
import type { Logger } from "../../../lib/process/logger.ts";
import { storeTag } from "../../../store/store-configuration.ts";
import { relocatedLayers } from "../../process/configured-stores.ts";
import type { ServingProcesses } from "../../process/process-methods.ts";
import type { Rendering } from "../build-rendering.ts";
import type { CoordinatorLink } from "../coordinator-link.ts";
import { mergeReloaded } from "./reloads.ts";

/** The parts of a server that a configuration is applied to. */
export interface ConfiguredParts {
  readonly coordinator: CoordinatorLink;
  readonly rendering: Rendering;
  readonly serving: Pick<ServingProcesses, "configure" | "configureLayer" | "publish">;
  readonly log: Logger;
}

/** Stores the configuration of a running server, and applies a new one to the server's parts. */
export class ConfigurationInForce {
  readonly #parts: ConfiguredParts;
  #current: Configuration;

  constructor(initial: Configuration, parts: ConfiguredParts) {
    this.#current = initial;
    this.#parts = parts;
  }

  get current(): Configuration {
    return this.#current;
  }

  /** Applies a configuration to the parts except the coordinator. Returns the keys whose change needs a restart. */
  async applyHere(next: Configuration): Promise<readonly string[]> {
    const { rendering, serving } = this.#parts;
    const { merged, ignored } = mergeReloaded(next, this.#current);
    this.#current = merged;
    rendering.renders.configure(merged.layers);
    rendering.renderers.configure(merged.layers, merged.stores);
    await serving.configure(merged);
    return ignored;
  }

  /** Applies a configuration to all parts. Returns the keys whose change needs a restart. */
  async apply(next: Configuration): Promise<readonly string[]> {
    const { coordinator, serving, log } = this.#parts;
    const before = this.#current;
    const removed = next.layers.length === 0 ? before.layers.length : 0;
    const { ignored, abortedJobs } = await this.#withMoves(mergeReloaded(next, before).merged, async () => ({
      ignored: await this.applyHere(next),
      ...(await coordinator.channel.call("configure", coordinatorConfiguration(this.#current))),
    }));
    const merged = this.#current;
    if (!isDeepStrictEqual(merged, before)) serving.publish({ kind: "configuration", layers: merged.layers.length });
    if (removed > 0) log.warn("the reload has removed all layers", { layers: removed, abortedJobs });
    return ignored;
  }

  /** Applies the change of one layer to all parts. */
  async applyLayer(update: LayerUpdate): Promise<void> {
    const { coordinator, rendering, serving } = this.#parts;
    this.#current = withLayer(this.#current, update);
    const { layers } = this.#current;
    const { name, made } = update;
    rendering.renders.configureLayer(layers, name, made?.layer);
    rendering.renderers.configureLayer(layers, name, made?.layer);
    await serving.configureLayer(update, this.#current);
    await coordinator.channel.call("configureLayer", { name, made: made && { layer: made.layer } });
    serving.publish({ kind: "configuration", layers: layers.length });
  }

  /** Returns whether a change may give a layer another store. Then the last changes must be copied before. */
  mayMove({ name, document }: ObjectChange): boolean {
    if (this.#current.stores.length < 2 || document === undefined) return false;
    const { store } = layerContent(document);
    const before = this.#current.layers.find((layer) => layer.name === name);
    return before === undefined || before.store !== store;
  }

  /** Returns the tag of an object. Null if the object does not exist. */
  tagOf({ kind, name }: Pick<ObjectChange, "kind" | "name">): string | null {
    const { layers, gridSets, stores } = this.#current;
    const layer = kind === "layer" ? layers.find((one) => one.name === name) : undefined;
    const gridSet = kind === "gridSet" ? gridSets.find(({ id }) => id === name) : undefined;
    const store = kind === "store" ? stores.find(({ id }) => id === name) : undefined;
    return (layer && layerTag(layer)) ?? (gridSet && gridSetTag(gridSet)) ?? (store && storeTag(store)) ?? null;
  }

  /** Returns the effect of a checked change. */
  effectOf(next: Configuration | LayerUpdate): ObjectEffect {
    const { layers: before } = this.#current;
    const whole = "made" in next ? withLayer(this.#current, next) : next;
    const { layers: after } = whole;
    return {
      layers: [...new Set([...changedLayers(before, after), ...changedLayers(after, before)])],
      moved: changedGridSets(catalogueOf(before), catalogueOf(after)),
      relocated: relocatedLayers(this.#current, whole),
    };
  }

  /** Runs the work of a reload. First finishes copying layers that get another store. */
  async #withMoves<T>(next: Configuration, work: () => Promise<T>): Promise<T> {
    if (next.stores.length < 2) return work();
    const { channel } = this.#parts.coordinator;
    await channel.call("moving", coordinatorConfiguration(next));
    try {
      return await work();
    } finally {
      channel.note("moved", []);
    }
  }
}
