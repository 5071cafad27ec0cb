import { workerData } from "node:worker_threads";
import { errorMessage } from "../lib/error-code.ts";
import type { CalledThread } from "../lib/process/blocking-calls.ts";
import { thisMachine } from "../lib/this-machine.ts";
import { answerBridge } from "./remote/answer-bridge.ts";
import { bucketOf, loadRemoteCode, type RemoteOptions } from "./remote-kinds.ts";

/** Runs the thread that works for a remote store while the coordinator waits. */
async function serve(thread: CalledThread<RemoteOptions & { readonly isOwner: boolean }>): Promise<void> {
  const { options } = thread;
  const open = bucketOf(options, thisMachine, await loadRemoteCode([options]));
  answerBridge(thread, options, open, thisMachine);
}

serve(workerData).catch((error: unknown) => {
  throw new Error(errorMessage(error), { cause: error });
});
