import { workerData } from "node:worker_threads";
import { machineDisk } from "../../lib/file/machine-disk.ts";
import { answerCalls, type CalledThread } from "../../lib/process/blocking-calls.ts";
import { machineRandom } from "../../lib/random/machine-random.ts";
import { machineClock } from "../../lib/time/machine-clock.ts";
import { PostgresConnection } from "./connection.ts";
import type { PostgresTarget } from "./postgres-url.ts";
import type { BatchResult, Fault, Request } from "./protocol.ts";
import type { SessionUse } from "./session.ts";

/** The parameters of the connection's thread. */
export interface PostgresThreadOptions {
  readonly target: PostgresTarget;
  readonly use: SessionUse;
}

function start(thread: CalledThread<PostgresThreadOptions>): void {
  const { target, use } = thread.options;
  const connection = new PostgresConnection(target, use, {
    clock: machineClock,
    disk: machineDisk,
    random: machineRandom,
  });
  const failed = (error: unknown): BatchResult => ({
    ok: false,
    fault: {
      kind: "unavailable",
      code: "",
      message: `the thread of the state database has failed: ${String(error)}`,
    },
  });
  // The coordinator's thread ends this thread after the answer to "close".
  const answerLast = answerCalls(thread, (request: Request) => carryOut(connection, request).catch(failed));
  // Every error must become an answer, because the coordinator's thread sleeps until an answer arrives.
  process.on("uncaughtException", (error) => answerLast(failed(error)));
}

async function carryOut(connection: PostgresConnection, request: Request): Promise<BatchResult> {
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

const answerOf = (fault: Fault | undefined): BatchResult =>
  fault === undefined ? { ok: true, results: [] } : { ok: false, fault };

start(workerData);
