import { errorMessage } from "../../lib/error-code.ts";
import type { Machine } from "../../lib/machine.ts";
import { answerCalls, type CalledThread } from "../../lib/process/blocking-calls.ts";
import { StoreError } from "../tile-store.ts";
import type { OpenBucket } from "./bucket.ts";
import { OwnedBucket } from "./internal/owned-bucket.ts";
import type { BridgeAnswer, BridgeCall } from "./internal/sync-bridge.ts";
import type { RemoteStoreParts } from "./remote-options.ts";

/** Answers the calls of a remote store (`internal/sync-bridge.ts`) in its thread. */
export function answerBridge(
  thread: CalledThread<unknown>,
  parts: RemoteStoreParts,
  open: OpenBucket,
  machine: Machine,
): void {
  const bucket = new OwnedBucket(parts, open, machine);
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
