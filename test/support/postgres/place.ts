import { test } from "vitest";
import type { TestServer } from "../server/server.ts";
import { startUpstream, type Upstream } from "../upstream/upstream.ts";
import { type StateInPostgres, startStateInPostgres } from "./state-in-postgres.ts";

/** A PostgreSQL, an upstream and a server of one test: such tests run at the same time, as they mostly wait. */
export interface PostgresPlace {
  readonly state: StateInPostgres;
  readonly upstream: Upstream;
  /** The server that was started last. The end of the test closes it. */
  server: TestServer | undefined;
  /** Resources that the end of the test releases, the last first, after all other resources. */
  readonly cleanUps: (() => void)[];
}

/** Gives each test a separate PostgreSQL and a separate upstream. */
export const withPostgres = test.extend<{ place: PostgresPlace }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of the fixtures from the pattern.
  place: async ({}, use) => {
    const place: PostgresPlace = {
      state: await startStateInPostgres(),
      upstream: await startUpstream(),
      server: undefined,
      cleanUps: [],
    };
    await use(place);
    await place.server?.close();
    await place.upstream.close();
    await place.state.close();
    for (const cleanUp of place.cleanUps.reverse()) cleanUp();
  },
});
