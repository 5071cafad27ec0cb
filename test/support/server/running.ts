import { afterEach } from "vitest";
import type { Upstream } from "../upstream/upstream.ts";
import type { TestServer } from "./server.ts";

/** The server and the upstream of a test. A test sets them; both are closed after the test, the server first. */
export interface Running {
  server: TestServer | undefined;
  upstream: Upstream | undefined;
}

/** Closes the server and the upstream after each test of a file. */
export function closedAfterEach(): Running {
  const running: Running = { server: undefined, upstream: undefined };
  afterEach(async () => {
    await running.server?.close();
    await running.upstream?.close();
  });
  return running;
}
