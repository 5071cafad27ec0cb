import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTcpProxy, type TcpProxy } from "../network/tcp-proxy.ts";
import type { TestServer } from "../server/server.ts";
import { until } from "../until.ts";
import { type Postgres, removePostgres, startPostgres } from "./postgres.ts";

/** A PostgreSQL behind a proxy, with an empty database `state` for a server. */
export interface StateInPostgres {
  readonly postgres: Postgres;
  readonly proxy: TcpProxy;
  /** The directory of PostgreSQL, which its account may write to. */
  readonly directory: string;
  /** The environment of a server whose state is in a database. */
  env(database?: string, account?: string): Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export async function startStateInPostgres(): Promise<StateInPostgres> {
  // A separate path, because the account of PostgreSQL may not enter a temporary directory of root.
  const made = mkdtempSync(join(tmpdir(), "nuthatch-pg-"));
  const directory = `${made}-server`;
  const postgres = startPostgres(directory);
  postgres.sql("CREATE DATABASE state");
  const proxy = await startTcpProxy(postgres.socket);
  return {
    postgres,
    proxy,
    directory,
    env: (database = "state", account = "nuthatch") => ({
      NUTHATCH_STATE_TYPE: "postgres",
      NUTHATCH_STATE_URL: `postgres://${account}@127.0.0.1:${proxy.port}/${database}`,
    }),
    async close() {
      await proxy.close();
      removePostgres(directory);
      rmSync(made, { recursive: true, force: true });
    },
  };
}

/** Waits until a server is ready, or is not, and returns its words. */
export const readiness = (server: TestServer, wanted: "ready" | "not ready"): Promise<string> =>
  until(
    `the server is ${wanted}`,
    async () => {
      const response = await fetch(`${server.url}/readyz`);
      const text = await response.text();
      return (response.status === 200) === (wanted === "ready") ? text : undefined;
    },
    60_000,
    server,
  );
