import { Channel, localMethods, portOfProcess, remoteMethods } from "../../lib/process/channel.ts";
import { machineClock } from "../../lib/time/machine-clock.ts";
import { loadStoreKinds, type OpenedStores, type StoreKinds } from "../../store/open-store.ts";
import type { TellStores } from "../../store/store-news.ts";
import { followParent } from "../process/child-process.ts";
import { loadDiskTiers, type MakeDiskTiers, openConfiguredStores } from "../process/configured-stores.ts";
import { createLogger } from "../process/logger.ts";
import {
  type HttpServerMethods,
  type HttpWorkerMethods,
  SERVING_CALLS,
  SERVING_PROCESSES,
  type ServingProcesses,
  USER_RENDERS,
} from "../process/process-methods.ts";
import { Serving } from "./serving.ts";

function startServing(): void {
  let begun: Serving | undefined;
  let stores: OpenedStores | undefined;
  let kinds: StoreKinds = {};
  let makeDiskTiers: MakeDiskTiers | undefined;
  const serving = (): Serving => {
    if (begun === undefined) throw new Error("the HTTP worker has not begun");
    return begun;
  };
  const methods: HttpWorkerMethods = {
    ...localMethods<ServingProcesses>(serving, SERVING_PROCESSES),
    async prepare(configured) {
      kinds = await loadStoreKinds(configured);
      makeDiskTiers = await loadDiskTiers(configured);
    },
    begin({ configuration, readiness, accounts, eventsId, expiredBefore, instance }) {
      const log = createLogger();
      const found: TellStores = (news) => channel.note("storeNews", [news]);
      stores = openConfiguredStores(configuration, instance, kinds, "server", found);
      begun = new Serving({
        configuration,
        eventsId,
        stores,
        core: {
          operations: channel,
          renders: remoteMethods(channel, USER_RENDERS),
          ...remoteMethods(channel, SERVING_CALLS),
        },
        diskTiers: makeDiskTiers?.(configuration, log),
        log,
      });
      for (const [layer, beforeMs] of expiredBefore) begun.expireBefore(layer, beforeMs);
      begun.setAccounts(accounts);
      void begun.ready(readiness);
    },
    applied: () => {},
    storeNews: (news) => stores?.tell(news),
    async close(graceMs) {
      await serving().close(graceMs);
      machineClock.soon(() => process.disconnect());
    },
  };
  const channel = new Channel<HttpWorkerMethods, HttpServerMethods>(portOfProcess(process), methods);
  channel.note("hello", []);
}

if (process.send !== undefined) {
  followParent();
  startServing();
}
