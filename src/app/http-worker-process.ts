import type { UseReport } from "../cache/use-recorder.ts";
import type { Configuration } from "../config/configuration.ts";
import type { Operations } from "../coordinator/operations.ts";
import type { ServerMetrics } from "../http/metrics/metrics-sample.ts";
import type { Readiness } from "../http/readiness.ts";
import type { Composed, Composition } from "../image/compose.ts";
import { Channel, portOfProcess } from "../lib/channel.ts";
import type { Refusal } from "../lib/refusal.ts";
import type { Result } from "../lib/result.ts";
import type { JobEvent } from "../plan/job-request.ts";
import type { MapRefused } from "../render/renderers.ts";
import type { UserRenders } from "../render/user-renders.ts";
import { createFileTileStore } from "../store/file/file-tile-store.ts";
import { followParent } from "./child-process.ts";
import { createLogger } from "./logger.ts";
import { Serving, type ServingMetrics } from "./serving.ts";

/** The data that an HTTP worker receives after its `hello`. */
export interface ServingData {
  readonly configuration: Configuration;
  readonly readiness: Readiness;
  /** The size of this process's memory tier. */
  readonly memoryTierBytes: number;
  readonly eventsId: string;
  /** The times of `expireBefore`, by layer. */
  readonly expiredBefore: ReadonlyMap<string, number>;
  readonly storeRoot: string;
  readonly instance: string;
}

/** Methods of an HTTP worker that the server calls. */
export interface ServingMethods {
  /** The first message. */
  begin(data: ServingData): void;
  /**
   * Listens on the address.
   * @throws Error when the address is not available
   */
  listen(host: string, port: number): Promise<{ readonly port: number }>;
  publish(event: JobEvent): void;
  metrics(): Promise<ServingMetrics>;
  clear(layer: string): void;
  forget(keys: readonly string[]): void;
  expireBefore(layer: string, beforeMs: number): void;
  /** Answers when all earlier messages have been handled. */
  settled(): void;
  configure(configuration: Configuration): Promise<void>;
  ready(readiness: Readiness): void;
  close(graceMs: number): Promise<void>;
}

/** Methods of the server that an HTTP worker calls. */
export interface CoreMethods extends Operations, UserRenders {
  /**
   * The first message. The server sends nothing before it, as a process of a cluster loses messages that arrive before
   * it listens.
   */
  hello(): void;
  compose(composition: Composition, gone: AbortSignal): Promise<Composed | MapRefused>;
  used(report: UseReport): void;
  reload(): Promise<Result<readonly string[], Refusal>>;
  metrics(): Promise<ServerMetrics>;
}

function startServing(): void {
  let begun: Serving | undefined;
  const serving = (): Serving => {
    if (begun === undefined) throw new Error("the HTTP worker has not begun");
    return begun;
  };
  const methods: ServingMethods = {
    begin({ configuration, readiness, memoryTierBytes, eventsId, expiredBefore, storeRoot, instance }) {
      begun = new Serving({
        configuration,
        memoryTierBytes,
        eventsId,
        store: createFileTileStore({ root: storeRoot, fsync: configuration.store.fsync, instance }),
        core: {
          operations: channel,
          renders: {
            renderForUser: (order, missed, client, gone) =>
              channel.callUntil(gone, "renderForUser", order, missed, client),
            ask: (layer, question, client, gone) => channel.callUntil(gone, "ask", layer, question, client),
            renderStatus: (layer, metatile) => channel.call("renderStatus", layer, metatile),
          },
          compose: (composition, gone) => channel.callUntil(gone, "compose", composition),
          used: (report) => channel.note("used", [report]),
          reload: () => channel.call("reload"),
          metrics: () => channel.call("metrics"),
        },
        log: createLogger(),
      });
      for (const [layer, beforeMs] of expiredBefore) begun.expireBefore(layer, beforeMs);
      begun.ready(readiness);
    },
    listen: (host, port) => serving().listen(host, port),
    publish: (event) => serving().publish(event),
    metrics: () => serving().metrics(),
    clear: (layer) => serving().clear(layer),
    forget: (keys) => serving().forget(keys),
    expireBefore: (layer, beforeMs) => serving().expireBefore(layer, beforeMs),
    settled: () => {},
    configure: (configuration) => serving().configure(configuration),
    ready: (readiness) => serving().ready(readiness),
    async close(graceMs) {
      await serving().close(graceMs);
      setImmediate(() => process.disconnect());
    },
  };
  const channel = new Channel<ServingMethods, CoreMethods>(portOfProcess(process), methods);
  channel.note("hello", []);
}

if (process.send !== undefined) {
  followParent();
  startServing();
}
