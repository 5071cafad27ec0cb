import { setTimeout as sleep } from "node:timers/promises";
import { ServerRefusal, ServerUnreachable } from "./server-client.ts";

/** A job outlives a restart of its server, so does the waiting for it. */
const LIMIT_MS = 120_000;
const PAUSE_MS = 1_000;
/** A proxy's words for a server that is not there, or its own while it starts. */
const AWAY = [502, 503, 504];

/** Asks until there is an answer, two minutes at most. `tell`: why it takes so long. */
export async function retryWhileBusy(ask: () => Promise<string>, tell: (text: string) => void): Promise<string> {
  const sinceMs = performance.now();
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const isAway =
        error instanceof ServerUnreachable || (error instanceof ServerRefusal && AWAY.includes(error.status));
      if (!isAway || performance.now() - sinceMs > LIMIT_MS) throw error;
      tell(`${error.message}; waiting for the server`);
    }
    await sleep(PAUSE_MS);
  }
}
