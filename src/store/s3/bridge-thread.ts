import { workerData } from "node:worker_threads";
import { errorMessage } from "../../lib/error-code.ts";
import { answerCalls, type CalledThread } from "../../lib/process/blocking-calls.ts";
import { thisMachine } from "../../lib/this-machine.ts";
import { StoreError } from "../tile-store.ts";
import { OwnedBucket } from "./internal/owned-bucket.ts";
import type { BridgeAnswer, BridgeCall } from "./internal/sync-bridge.ts";
import type { S3StoreOptions } from "./s3-options.ts";

/** Runs the thread that works for an S3 store while the coordinator waits (`internal/sync-bridge.ts`). */
function serve(thread: CalledThread<S3StoreOptions>): void {
  const bucket = new OwnedBucket(thread.options, thisMachine);
  let last: Promise<unknown> = Promise.resolve();
  const answer = async ({ method, args }: BridgeCall): Promise<BridgeAnswer<unknown>> => {
    try {
      const called: unknown = Reflect.get(bucket, method);
      if (typeof called !== "function") throw new TypeError(`there is no method ${method}`);
      return { result: await Reflect.apply(called, bucket, args) };
    } catch (error) {
      return { fault: { code: error instanceof StoreError ? error.code : undefined, message: errorMessage(error) } };
    }
  };
  answerCalls(thread, (call: BridgeCall) => {
    // Answered at once, because waiting behind an unanswered call would be too late.
    if (call.method === "tell") return answer(call);
    // Calls run one after the other, because a call that timed out may still run.
    const answered = last.then(() => answer(call));
    last = answered;
    return answered;
  });
}

serve(workerData);
