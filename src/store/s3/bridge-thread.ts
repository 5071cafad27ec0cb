import { workerData } from "node:worker_threads";
import { errorMessage } from "../../lib/error-code.ts";
import { StoreError } from "../tile-store.ts";
import { OwnedBucket } from "./internal/owned-bucket.ts";
import type { BridgeAnswer, BridgeCall, BridgeData } from "./internal/sync-bridge.ts";

/** The thread that works for a store of S3 while the coordinator waits (`internal/sync-bridge.ts`). */
function serve({ options, port, answered }: BridgeData): void {
  const bucket = new OwnedBucket(options);
  let last: Promise<void> = Promise.resolve();
  const answer = async ({ id, method, args }: BridgeCall): Promise<BridgeAnswer> => {
    try {
      const called: unknown = Reflect.get(bucket, method);
      if (typeof called !== "function") throw new TypeError(`there is no method ${method}`);
      const result: unknown = await Reflect.apply(called, bucket, args);
      return { id, result };
    } catch (error) {
      const message = errorMessage(error);
      return { id, fault: { code: error instanceof StoreError ? error.code : undefined, message } };
    }
  };
  port.on("message", (call: BridgeCall) => {
    // One after another: a call that was given up may still run.
    last = last.then(async () => {
      port.postMessage(await answer(call));
      Atomics.add(answered, 0, 1);
      Atomics.notify(answered, 0);
    });
  });
}

serve(workerData);
