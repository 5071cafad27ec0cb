import type { TestServer } from "./test-server.ts";

/** Polls until `look` returns a value, at growing intervals. The deadline only ends a hopeless wait. */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined>,
  deadlineMs = 120_000,
  server?: TestServer,
): Promise<T> {
  const end = Date.now() + deadlineMs;
  for (let pauseMs = 20; ; pauseMs = Math.min(80, pauseMs * 1.2)) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > end)
      throw new Error(`still not so after ${deadlineMs} ms: ${what}\n${server?.log().slice(-2000) ?? ""}`);
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
