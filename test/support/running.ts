import { afterEach } from "vitest";
import type { TestServer } from "./server.ts";
import type { Upstream } from "./upstream.ts";

/** What a test has running, put here as it starts or restarts: closed after the test, the server first. */
export interface Running {
  server: TestServer | undefined;
  upstream: Upstream | undefined;
}

/** For the tests of one file. */
export function closedAfterEach(): Running {
  const running: Running = { server: undefined, upstream: undefined };
  afterEach(async () => {
    await running.server?.close();
    await running.upstream?.close();
  });
  return running;
}
