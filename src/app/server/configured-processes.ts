import { type Configuration, coordinatorConfiguration } from "../../configuration/configuration.ts";
import type { ConfiguredProcesses } from "../../configuration/in-force/in-force.ts";
import type { Logger } from "../../lib/process/logger.ts";
import type { ServingProcesses } from "../process/process-methods.ts";
import type { Rendering } from "./build-rendering.ts";
import type { CoordinatorLink } from "./coordinator-link.ts";

/** The parts of a server that have copies of the configuration. */
export interface ConfiguredParts {
  readonly coordinator: CoordinatorLink;
  readonly rendering: Rendering;
  readonly serving: Pick<ServingProcesses, "configure" | "configureLayer" | "publish">;
  readonly log: Logger;
}

/** Returns the processes of a server that get its configuration in force. */
export function configuredProcesses(parts: ConfiguredParts): ConfiguredProcesses {
  const { coordinator, rendering, serving, log } = parts;
  const configureServing = async (next: Configuration): Promise<void> => {
    rendering.renders.configure(next.layers);
    rendering.renderers.configure(next.layers, next.stores);
    await serving.configure(next);
  };
  return {
    configureServing,
    async withMoves(next, tell) {
      if (next.stores.length < 2) return tell();
      const { methods } = coordinator;
      await methods.moving(coordinatorConfiguration(next));
      try {
        await tell();
      } finally {
        methods.moved();
      }
    },
    async configure(next, before) {
      await configureServing(next);
      const { abortedJobs } = await coordinator.methods.configure(coordinatorConfiguration(next));
      if (next.revision !== before.revision) serving.publish({ kind: "configuration", layers: next.layers.length });
      if (next.layers.length === 0 && before.layers.length > 0)
        log.warn("the reload has removed all layers", { layers: before.layers.length, abortedJobs });
    },
    async configureLayer(update, next) {
      const { layers } = next;
      const { name, made } = update;
      rendering.renders.configureLayer(layers, name, made?.layer);
      rendering.renderers.configureLayer(layers, name, made?.layer);
      await serving.configureLayer(update, next);
      await coordinator.methods.configureLayer(update);
      serving.publish({ kind: "configuration", layers: layers.length });
    },
  };
}
