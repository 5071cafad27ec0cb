import { OPERATION_ROWS, OPERATION_SENDINGS, type Operations } from "../coordinator/operations.ts";
import { type Channel, remoteMethods } from "../lib/channel.ts";

/** The channel to the coordinator, or, in an HTTP worker, to the server, which forwards to the coordinator. */
export type OperationsChannel = Pick<Channel<Record<never, never>, Operations>, "call" | "callUntil" | "note">;

/** Work around each operation. */
export interface OperationHooks {
  /** Called before operations whose answer depends on which tiles are in use: reports the tiles that were read. */
  readonly reportReads?: () => void;
  /** Awaited before each answer, so that the answer is true of all processes that serve tiles. */
  readonly applied?: () => Promise<void>;
}

/** Returns the operations behind a channel. */
export function forwardOperations(channel: OperationsChannel, { reportReads, applied }: OperationHooks): Operations {
  const methods = Object.entries<(...args: never[]) => unknown>({ ...remoteMethods(channel, OPERATION_SENDINGS) });
  const forwarded = methods.map(([name, method]) => {
    const before = OPERATION_ROWS.get(name)?.readsFirst === true ? reportReads : undefined;
    if (before === undefined && applied === undefined) return [name, method];
    return [
      name,
      async (...args: never[]) => {
        before?.();
        const answer = await method(...args);
        await applied?.();
        return answer;
      },
    ];
  });
  return Object.fromEntries(forwarded);
}
