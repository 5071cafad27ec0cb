import { Channel, portOfProcess, remoteMethods } from "../lib/channel.ts";
import { openStore } from "../store/open-store.ts";
import { followParent } from "./child-process.ts";
import { createLogger } from "./logger.ts";
import { type HttpServerMethods, type HttpWorkerMethods, USER_RENDERS } from "./process-methods.ts";
import { Serving } from "./serving.ts";

function startServing(): void {
  let begun: Serving | undefined;
  const serving = (): Serving => {
    if (begun === undefined) throw new Error("the HTTP worker has not begun");
    return begun;
  };
  const methods: HttpWorkerMethods = {
    begin({ configuration, readiness, memoryTierBytes, eventsId, expiredBefore, storeRoot, instance }) {
      begun = new Serving({
        configuration,
        memoryTierBytes,
        eventsId,
        store: openStore({ root: storeRoot, fsync: configuration.store.fsync, instance }),
        core: {
          operations: channel,
          renders: remoteMethods(channel, USER_RENDERS),
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
    remove: (keys) => serving().remove(keys),
    expireBefore: (layer, beforeMs) => serving().expireBefore(layer, beforeMs),
    applied: () => {},
    configure: (configuration) => serving().configure(configuration),
    ready: (readiness) => serving().ready(readiness),
    async close(graceMs) {
      await serving().close(graceMs);
      setImmediate(() => process.disconnect());
    },
  };
  const channel = new Channel<HttpWorkerMethods, HttpServerMethods>(portOfProcess(process), methods);
  channel.note("hello", []);
}

if (process.send !== undefined) {
  followParent();
  startServing();
}
