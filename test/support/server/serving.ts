import { onTestFinished } from "vitest";
import { CALLED_BY_MEMBERS } from "../../../src/app/process/process-methods.ts";
import { Serving } from "../../../src/app/serving/serving.ts";
import type { Configuration } from "../../../src/configuration/configuration.ts";
import { Channel } from "../../../src/lib/process/channel.ts";
import { thisMachine } from "../../../src/lib/this-machine.ts";
import { silentLog } from "../silent-log.ts";
import { createMemoryStore } from "../stores/memory-store.ts";

/** Starts a process's HTTP side, with a store in memory and an upstream that fails. Its coordinator does not answer. */
export async function startServing(configuration: Configuration): Promise<{ serving: Serving; origin: string }> {
  const silent = { postMessage: () => undefined, on: () => undefined };
  const failure = { kind: "failed", failure: "exception", message: "it fails", retryAfterMs: undefined } as const;
  const serving = new Serving({
    configuration,
    eventsId: "events",
    stores: { store: createMemoryStore(), configure: () => undefined, watched: [] },
    diskTiers: undefined,
    core: {
      ...new Channel(silent, {}, CALLED_BY_MEMBERS).remote,
      renderForUser: async () => ({ kind: "remembered", failure, retryAfterSeconds: 1, failed: "just now" }),
      queryUpstream: async () => failure,
      renderStatus: async () => ({ drawing: false, failing: undefined, truncatedMs: undefined }),
    },
    machine: thisMachine,
    log: silentLog,
  });
  const { port } = await serving.listen("127.0.0.1", 0);
  onTestFinished(() => serving.close(0));
  return { serving, origin: `http://127.0.0.1:${port}` };
}
