import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { isMap } from "../../lib/is-map.ts";
import type { Clock } from "../../lib/time/clock.ts";

/**
 * The default time limit of one query. An index answers in milliseconds; the limit is enough to read some gigabytes.
 */
const LIMIT_MS = 15_000;
/**
 * After a query that took too long, queries of the same file are refused for this time, because each attempt costs a
 * process and the time limit.
 */
const REFUSE_MS = 60_000;
/** The most bytes and rows in one batch of a cursor. */
const BATCH_BYTES = 4 * 1024 * 1024;
const BATCH_ROWS = 1000;

/**
 * The program of the reader process. libsql cannot interrupt a query, and a thread that runs one cannot be ended, so
 * the queries of foreign files run in a process. A thread in this process kills it when a query passes its limit, even
 * if the parent has died. The queries read text values as blobs, because libsql ends the process for a text that is not
 * UTF-8.
 */
const CODE = `
const { Worker } = require("node:worker_threads");
const [libsql, batchBytes, batchRows] = process.argv.slice(1);
const Sqlite = require(libsql);
// A counter that is odd during a query, and the time limit of the query in ms.
const turns = new Int32Array(new SharedArrayBuffer(8));
const watch = new Worker(\`
  const { workerData: turns } = require("node:worker_threads");
  for (;;) {
    const turn = Atomics.load(turns, 0);
    if (turn % 2 === 0) Atomics.wait(turns, 0, turn);
    else if (Atomics.wait(turns, 0, turn, Atomics.load(turns, 1)) === "timed-out") process.kill(process.pid, "SIGKILL");
  }
\`, { eval: true, workerData: turns });
watch.unref();
const turn = () => { Atomics.add(turns, 0, 1); Atomics.notify(turns, 0); };
const files = new Map();
const opened = (key, url) => {
  let file = files.get(key);
  if (file === undefined) {
    const db = new Sqlite(url);
    file = { db, statements: new Map(), rows: undefined };
    files.set(key, file);
    // Views of a foreign file must not call functions.
    db.exec("PRAGMA trusted_schema = OFF; PRAGMA query_only = ON; PRAGMA cache_size = -8192");
  }
  return file;
};
const prepared = (file, sql) => {
  let statement = file.statements.get(sql);
  if (statement === undefined) file.statements.set(sql, (statement = file.db.prepare(sql)));
  return statement;
};
const nextRows = (file) => {
  const list = [];
  for (let bytes = 0; list.length < Number(batchRows) && bytes < Number(batchBytes); ) {
    const { done, value } = file.rows.next();
    if (done) { file.rows = undefined; return { list, done: true }; }
    // Copied, because libsql may reuse the memory of a row.
    const row = Object.fromEntries(Object.entries(value).map(([key, one]) =>
      [key, one instanceof Uint8Array || one instanceof ArrayBuffer ? Uint8Array.from(new Uint8Array(one)) : one]));
    for (const one of Object.values(row)) if (one instanceof Uint8Array) bytes += one.byteLength;
    list.push(row);
  }
  return { list, done: false };
};
const work = ({ operation, key, url, sql, parameters }) => {
  if (operation === "close") {
    files.get(key)?.db.close();
    files.delete(key);
    return undefined;
  }
  const file = opened(key, url);
  if (operation === "check") return void prepared(file, sql);
  if (operation === "first") {
    const row = prepared(file, sql).get(parameters);
    return row === undefined ? undefined : { ...row };
  }
  if (operation === "rows") file.rows = file.db.prepare(sql).iterate([])[Symbol.iterator]();
  return nextRows(file);
};
process.on("disconnect", () => process.exit());
process.on("message", (message) => {
  Atomics.store(turns, 1, message.limitMs);
  turn();
  let answer;
  try {
    answer = { id: message.id, value: work(message) };
  } catch (error) {
    answer = { id: message.id, error: { code: String(error?.code ?? ""), message: String(error?.message ?? error) } };
    if (files.get(message.key)?.statements.size === 0) { files.get(message.key).db.close(); files.delete(message.key); }
  }
  turn();
  process.send(answer);
});
`;

/** An error of SQLite, with its code such as `SQLITE_CORRUPT`. The message may contain the path of the file. */
export class SqliteReadError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = "SqliteReadError";
    this.code = code;
  }
}

/** The error code of a query that took too long, and of all queries of its file for a while after it. */
export const TOO_LONG = "TOO_LONG";
const tooLong = ({ limitMs }: Request) =>
  new SqliteReadError(TOO_LONG, `a query took longer than ${limitMs / 1000} seconds`);

interface Request {
  readonly operation: "check" | "first" | "rows" | "next" | "close";
  readonly key: number;
  readonly url: string;
  readonly limitMs: number;
  readonly sql?: string;
  readonly parameters?: readonly (number | string)[];
}

interface Pending {
  readonly clock: Clock;
  readonly request: Request;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** The reader process, which serves all files. Undefined while it does not run. */
let reader: { readonly child: ChildProcess; readonly pending: Map<number, Pending> } | undefined;
let requests = 0;
let keys = 0;
/** The files whose queries took too long. */
const refused = new Set<string>();

function startReader(): NonNullable<typeof reader> {
  const libsql = createRequire(import.meta.url).resolve("libsql");
  const limits = [BATCH_BYTES, BATCH_ROWS].map(String);
  const child = spawn(process.execPath, ["--eval", CODE, libsql, ...limits], {
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    serialization: "advanced",
    // The reader gets no environment variables of the server, because one may be a secret.
    env: {},
  });
  const pending = new Map<number, Pending>();
  const started = { child, pending };
  const ended = () => {
    if (reader === started) reader = undefined;
    const [culprit, ...others] = pending.values();
    pending.clear();
    if (culprit === undefined) return;
    // The reader answers requests in order, so the oldest pending request took too long.
    const { clock, request, reject } = culprit;
    refused.add(request.url);
    clock.after(REFUSE_MS, () => refused.delete(request.url)).unref();
    reject(tooLong(request));
    for (const { clock, request, resolve, reject } of others) {
      // The cursor of a `next` request was lost with the process.
      if (request.operation === "next") reject(new SqliteReadError("", "the reader of the file has ended"));
      else send(clock, request).then(resolve, reject);
    }
  };
  child.once("exit", ended);
  child.once("error", ended);
  child.on("message", (answer) => {
    if (!isMap(answer)) return;
    const { id, value, error } = answer;
    const waiting = typeof id === "number" ? pending.get(id) : undefined;
    if (waiting === undefined || typeof id !== "number") return;
    pending.delete(id);
    hold(started);
    if (isMap(error)) waiting.reject(new SqliteReadError(String(error["code"]), String(error["message"])));
    else waiting.resolve(value);
  });
  return started;
}

/** Lets this program end while no request is pending. */
function hold({ child, pending }: NonNullable<typeof reader>): void {
  if (pending.size > 0) {
    child.ref();
    child.channel?.ref();
  } else {
    child.unref();
    child.channel?.unref();
  }
}

function send(clock: Clock, request: Request): Promise<unknown> {
  if (refused.has(request.url)) return Promise.reject(tooLong(request));
  reader ??= startReader();
  const current = reader;
  const id = requests++;
  return new Promise((resolve, reject) => {
    current.pending.set(id, { clock, request, resolve, reject });
    hold(current);
    // If sending fails, the process has ended, and its exit handler rejects all requests.
    current.child.send({ ...request, id }, () => {});
  });
}

/**
 * A foreign SQLite database, open for reading, whose queries have a time limit.
 * @throws SqliteReadError from all methods
 */
export class SqliteReader implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #file: Pick<Request, "key" | "url" | "limitMs">;

  private constructor(clock: Clock, path: string, limitMs: number) {
    this.#clock = clock;
    // Only a URI makes libsql open a file read-only. Otherwise libsql would create a missing file.
    this.#file = { key: keys++, url: `${pathToFileURL(path).href}?mode=ro`, limitMs };
  }

  /**
   * Opens a file.
   * @param sql a query that must succeed
   * @param limitMs the time limit of each query
   */
  static async open(clock: Clock, path: string, sql: string, limitMs: number = LIMIT_MS): Promise<SqliteReader> {
    const opened = new SqliteReader(clock, path, limitMs);
    await send(clock, { ...opened.#file, operation: "check", sql });
    return opened;
  }

  /** Returns the first row of a query. Undefined if the query returns no row. */
  first(sql: string, parameters: readonly (number | string)[] = []): Promise<unknown> {
    return send(this.#clock, { ...this.#file, operation: "first", sql, parameters });
  }

  /** Returns the rows of a query. Only one such query of a file runs at a time. */
  async *rows(sql: string): AsyncGenerator<unknown> {
    for (let operation: "rows" | "next" = "rows"; ; operation = "next") {
      const batch = await send(this.#clock, { ...this.#file, operation, sql });
      if (!isMap(batch) || !Array.isArray(batch["list"])) return;
      yield* batch["list"];
      if (batch["done"] === true) return;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // If the reader process does not run, or ends during the call, no file is open.
    if (reader !== undefined) await send(this.#clock, { ...this.#file, operation: "close" }).catch(() => undefined);
  }
}
