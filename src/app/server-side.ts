import type { UseReport } from "../cache/use-recorder.ts";
import type { Configuration } from "../config/configuration.ts";
import type { RunningConfiguration } from "../config/load.ts";
import type { ConfigurationProblem } from "../config/problem.ts";
import type { ServerMetrics } from "../http/metrics/metrics-sample.ts";
import type { Composed, Composition } from "../image/compose.ts";
import type { Logger } from "../lib/logger.ts";
import type { Result } from "../lib/result.ts";
import type { MapRefused } from "../render/renderers.ts";
import type { UserRenders } from "../render/user-renders.ts";
import type { Rendering } from "./build-rendering.ts";
import type { CoordinatorLink } from "./coordinator-link.ts";
import type { OperationsChannel } from "./operations-channel.ts";
import type { ServingProcesses } from "./process-methods.ts";
import { mergeReloaded, reloadsInTurn } from "./reloads.ts";
import type { Core } from "./serving.ts";
import type { Telemetry } from "./telemetry.ts";

/** Loads the configuration that is to replace the one of the running server. */
export type LoadConfiguration = (
  running: RunningConfiguration,
) => Promise<Result<Configuration, readonly ConfigurationProblem[]>>;

export interface ServerSideParts {
  readonly coordinator: CoordinatorLink;
  readonly rendering: Rendering;
  readonly telemetry: Telemetry | undefined;
  readonly load: LoadConfiguration;
  readonly log: Logger;
}

/** The rest of the server behind the processes that answer HTTP, in the server's own process. */
export class ServerSide implements Core {
  readonly #parts: ServerSideParts;
  readonly operations: OperationsChannel;
  readonly renders: UserRenders;
  readonly reload: Core["reload"];
  #configuration: Configuration;
  #serving: ServingProcesses | undefined;

  constructor(configuration: Configuration, parts: ServerSideParts) {
    const { coordinator, rendering, telemetry, load, log } = parts;
    this.#parts = parts;
    this.#configuration = configuration;
    this.operations = coordinator.channel;
    this.renders = telemetry?.traced(rendering.renders) ?? rendering.renders;
    this.reload = reloadsInTurn(
      () => load({ users: this.#configuration.users.length, layers: this.#configuration.layers.length }),
      (next) => this.#apply(next),
      log,
    );
  }

  /** Called once: the processes are built later, as they use this object. */
  attach(serving: ServingProcesses): void {
    this.#serving = serving;
  }

  /** The configuration in force. */
  get configuration(): Configuration {
    return this.#configuration;
  }

  /** Applies a configuration to all parts. Returns the keys whose change needs a restart. */
  async #apply(next: Configuration): Promise<readonly string[]> {
    const { rendering, coordinator, log } = this.#parts;
    const removed = next.layers.length === 0 ? this.#configuration.layers.length : 0;
    const { merged, ignored } = mergeReloaded(next, this.#configuration);
    this.#configuration = merged;
    rendering.renders.configure(merged.layers);
    rendering.renderers.configure(merged.layers);
    await this.#serving?.configure(merged);
    const { abortedJobs } = await coordinator.channel.call("configure", merged);
    if (removed > 0) log.warn("the reload has removed all layers", { layers: removed, abortedJobs });
    return ignored;
  }

  compose(composition: Composition, gone: AbortSignal): Promise<Composed | MapRefused> {
    return this.#parts.rendering.renderers.compose(composition, gone);
  }

  used(report: UseReport): void {
    const { rendering, coordinator } = this.#parts;
    rendering.tilesRead();
    coordinator.channel.note("used", [report]);
  }

  async metrics(): Promise<ServerMetrics> {
    if (this.#serving === undefined) throw new Error("the server does not serve yet");
    return { ...(await this.#serving.metrics()), ...this.#parts.rendering.metrics() };
  }
}
