import type { TestServer } from "./server/test-server.ts";

const SHORTEST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 250;
/** A pause takes this share of the time that has passed: who waits long takes little from the server it waits for. */
const SHARE = 0.1;

/**
 * Polls until `look` returns a value, at growing intervals. The deadline only ends a hopeless wait, whose error says
 * `what`.
 */
export async function until<T>(
  what: string | (() => string),
  look: () => Promise<T | undefined>,
  deadlineMs = 120_000,
  server?: TestServer,
): Promise<T> {
  const start = Date.now();
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    const passedMs = Date.now() - start;
    if (passedMs > deadlineMs)
      throw new Error(
        `still not so after ${deadlineMs} ms: ${typeof what === "string" ? what : what()}\n${server?.log().slice(-2000) ?? ""}`,
      );
    const pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, SHARE * passedMs));
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

export const isReady = (server: TestServer): Promise<true> =>
  until(
    "the node is ready",
    async () => ((await fetch(`${server.url}/readyz`)).status === 200 ? true : undefined),
    60_000,
    server,
  );
