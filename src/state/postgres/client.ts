import { Socket } from "node:net";
import { type ConnectionOptions, checkServerIdentity } from "node:tls";
import { Client } from "pg";
import pgpass from "pgpass";
import type { Disk } from "../../lib/file/disk.ts";
import type { SqlValue } from "../database.ts";
import type { PostgresTarget } from "./postgres-url.ts";
import type { Query, QueryResult } from "./protocol.ts";

const CONNECT_MS = 3_000;
/** A connection without traffic is probed after this time, so that a firewall does not forget it. */
const KEEP_ALIVE_MS = 30_000;

/** The ids of types in PostgreSQL's catalogue. */
const BOOL = 16;
const BYTEA = 17;
const NUMBERS: ReadonlySet<number> = new Set([20, 21, 23, 700, 701, 1700]);

/** A connection to PostgreSQL that is not open yet. */
export interface PostgresClient {
  readonly client: Client;
  /** Closes the socket without ending the session in order. */
  readonly destroy: (reason: Error) => void;
}

/** @throws Error when a TLS file cannot be read */
export function newClient(target: PostgresTarget, name: string, disk: Pick<Disk, "readFileSync">): PostgresClient {
  const socket = new Socket();
  const { host, port, database, user, options } = target;
  const client: Client = new Client({
    host,
    port,
    database,
    ...(user === undefined ? {} : { user }),
    ...(options === undefined ? {} : { options }),
    password: () => passwordFor(target, client),
    ssl: tlsOptions(target, disk),
    application_name: name,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    connectionTimeoutMillis: CONNECT_MS,
    pipeline: true,
    stream: () => socket,
    types: { getTypeParser: (type: number) => parserOf(type) },
  });
  return { client, destroy: (reason) => void socket.destroy(reason) };
}

/** Finds the password where libpq looks for it. Resolves with "" if there is no password. */
async function passwordFor({ host, port, database, password }: PostgresTarget, { user }: Client): Promise<string> {
  const given = password ?? process.env["PGPASSWORD"];
  if (given !== undefined) return given;
  // For a Unix socket libpq uses the name `localhost`.
  const looked = host.startsWith("/") ? "localhost" : host;
  return new Promise((resolve) => {
    pgpass({ host: looked, port, database, user: user ?? "" }, (found) => resolve(found ?? ""));
  });
}

function tlsOptions(target: PostgresTarget, disk: Pick<Disk, "readFileSync">): ConnectionOptions | false {
  const { host, sslMode, sslRootCert, sslCert, sslKey } = target;
  if (sslMode === "disable") return false;
  return {
    ...(sslRootCert === undefined ? {} : { ca: disk.readFileSync(sslRootCert, "utf8") }),
    ...(sslCert === undefined ? {} : { cert: disk.readFileSync(sslCert, "utf8") }),
    ...(sslKey === undefined ? {} : { key: disk.readFileSync(sslKey, "utf8") }),
    // As in libpq: `require` encrypts, and checks the certificate authority only if the options name one.
    ...(sslMode === "require" && sslRootCert === undefined ? { rejectUnauthorized: false } : {}),
    // The library does not pass an IP address to Node, so Node would compare the certificate with "localhost".
    checkServerIdentity: (_, certificate) =>
      sslMode === "verify-full" ? checkServerIdentity(host, certificate) : undefined,
  };
}

/** Returns the parser of the texts that PostgreSQL sends for values of a type. */
function parserOf(type: number): (text: string) => SqlValue {
  if (NUMBERS.has(type)) return parseNumber;
  if (type === BOOL) return (text) => (text === "t" ? 1 : 0);
  if (type === BYTEA) return parseBytes;
  return (text) => text;
}

function parseNumber(text: string): number | bigint {
  const number = Number(text);
  return Number.isSafeInteger(number) || !/^-?\d+$/.test(text) ? number : BigInt(text);
}

/**
 * Parses bytes in hexadecimal form. Copies them, because a small buffer shares memory with other buffers, and a message
 * would contain all of this memory.
 */
const parseBytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.slice(2), "hex"));

/** Runs a statement. In a pipeline the statement is sent at once, even if earlier statements have no answer yet. */
export async function runQuery(client: Client, { text, name, values }: Query): Promise<QueryResult> {
  const config = {
    text,
    rowMode: "array" as const,
    ...(name === undefined ? {} : { values: [...values], ...(name === "" ? {} : { name }) }),
  };
  const result = await client.query<SqlValue[]>(config);
  // Several statements in one text have several results. No caller needs them.
  if (Array.isArray(result)) return { columns: [], rows: [], changes: 0 };
  return { columns: result.fields.map((field) => field.name), rows: result.rows, changes: result.rowCount ?? 0 };
}
