import { type MessagePort, workerData } from "node:worker_threads";
import { PostgresConnection } from "./connection.ts";
import type { PostgresTarget } from "./postgres-url.ts";
import type { Answer, Fault, NumberedAnswer, NumberedRequest, Request } from "./protocol.ts";
import type { SessionUse } from "./session.ts";

/** The parameters of the thread of the connection. */
export interface PostgresThreadData {
  readonly target: PostgresTarget;
  readonly use: SessionUse;
  readonly port: MessagePort;
  /** One number, set to 1 after each answer: the coordinator's thread sleeps on it. */
  readonly answered: SharedArrayBuffer;
}

function start({ target, use, port, answered }: PostgresThreadData): void {
  const connection = new PostgresConnection(target, use);
  const signal = new Int32Array(answered);
  let lastId = 0;
  const answer = (message: Answer): void => {
    port.postMessage({ id: lastId, answer: message } satisfies NumberedAnswer);
    Atomics.store(signal, 0, 1);
    Atomics.notify(signal, 0);
  };
  // Every error must become an answer, because the coordinator's thread sleeps until one comes.
  const fail = (error: unknown): void =>
    answer({
      ok: false,
      fault: {
        kind: "unavailable",
        code: "",
        message: `the thread of the state database has failed: ${String(error)}`,
      },
    });
  process.on("uncaughtException", fail);
  port.on("message", ({ id, request }: NumberedRequest) => {
    lastId = id;
    // The coordinator's thread ends this one after the answer to "close".
    void carryOut(connection, request).then(answer, fail);
  });
}

async function carryOut(connection: PostgresConnection, request: Request): Promise<Answer> {
  switch (request.kind) {
    case "open":
      return answerOf(await connection.open());
    case "batch":
      return connection.run(request);
    case "rollback":
      await connection.rollback();
      return answerOf(undefined);
    case "check":
      return answerOf(await connection.check());
    case "close":
      await connection.close();
      return answerOf(undefined);
  }
}

const answerOf = (fault: Fault | undefined): Answer =>
  fault === undefined ? { ok: true, results: [] } : { ok: false, fault };

start(workerData);
