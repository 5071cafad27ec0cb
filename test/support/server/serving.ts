import { onTestFinished } from "vitest";
import { type HttpServerMethods, SERVING_CALLS } from "../../../src/app/process/process-methods.ts";
import { Serving } from "../../../src/app/serving/serving.ts";
import type { Configuration } from "../../../src/configuration/configuration.ts";
import { Channel, remoteMethods } from "../../../src/lib/process/channel.ts";
import { silentLog } from "../silent-log.ts";
import { createMemoryStore } from "../stores/memory-store.ts";

/** Starts a process's HTTP side, with a store in memory and an upstream that fails. Its coordinator does not answer. */
export async function startServing(configuration: Configuration): Promise<{ serving: Serving; origin: string }> {
  const silent = { postMessage: () => undefined, on: () => undefined };
  const channel = new Channel<Record<never, never>, HttpServerMethods>(silent, {});
  const failure = { kind: "failed", failure: "exception", message: "it fails", retryAfterMs: undefined } as const;
  const serving = new Serving({
    configuration,
    eventsId: "events",
    stores: { store: createMemoryStore(), configure: () => undefined },
    diskTiers: undefined,
    core: {
      operations: channel,
      renders: {
        renderForUser: async () => ({ kind: "remembered", failure, retryAfterSeconds: 1, failed: "just now" }),
        queryUpstream: async () => failure,
        renderStatus: async () => ({ drawing: false, failing: undefined, truncatedMs: undefined }),
      },
      ...remoteMethods(channel, SERVING_CALLS),
    },
    log: silentLog,
  });
  const { port } = await serving.listen("127.0.0.1", 0);
  onTestFinished(() => serving.close(0));
  return { serving, origin: `http://127.0.0.1:${port}` };
}
