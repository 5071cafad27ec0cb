import { Channel } from "../../lib/process/channel.ts";
import { portOfProcess } from "../../lib/process/message.ts";
import { localMethods } from "../../lib/process/method-table.ts";
import { thisMachine } from "../../lib/this-machine.ts";
import { loadStoreKinds, type OpenedStores, type StoreKinds } from "../../store/open-store.ts";
import { followParent } from "../process/child-process.ts";
import { loadDiskTiers, type MakeDiskTiers, openConfiguredStores } from "../process/configured-stores.ts";
import { createLogger } from "../process/logger.ts";
import { HTTP_SERVER, type HttpWorkerMethods, SERVING_PROCESSES } from "../process/process-methods.ts";
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
    ...localMethods(serving, SERVING_PROCESSES),
    async prepare(configured) {
      kinds = await loadStoreKinds(configured);
      makeDiskTiers = await loadDiskTiers(configured);
    },
    begin({ configuration, readiness, accounts, eventsId, expiredBefore, instance }) {
      const log = createLogger(thisMachine.clock);
      stores = openConfiguredStores(configuration, instance, kinds, "server", thisMachine, channel.remote.storeNews);
      begun = new Serving({
        configuration,
        eventsId,
        stores,
        core: channel.remote,
        diskTiers: makeDiskTiers?.(configuration, thisMachine, log),
        machine: thisMachine,
        log,
      });
      for (const [layer, beforeMs] of expiredBefore) begun.expireBefore(layer, beforeMs);
      begun.setAccounts(accounts);
      void begun.ready(readiness);
    },
    applied: async () => {},
    storeNews: (news) => stores?.tell(news),
    async close(graceMs) {
      await serving().close(graceMs);
      thisMachine.clock.soon(() => process.disconnect());
    },
  };
  const channel = new Channel(portOfProcess(process), methods, HTTP_SERVER);
  channel.remote.hello();
}

if (process.send !== undefined) {
  followParent();
  startServing();
}
