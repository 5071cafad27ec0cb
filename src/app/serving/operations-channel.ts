import { OPERATION_ROWS, OPERATION_SENDINGS, type Operations } from "../../coordinator/operations.ts";
import { type Channel, remoteMethods } from "../../lib/process/channel.ts";

/** The channel to the coordinator. In an HTTP worker, the channel to the server, which forwards to the coordinator. */
export type OperationsChannel = Pick<Channel<Record<never, never>, Operations>, "call" | "callUntil" | "note">;

/**
 * Returns the operations behind a channel.
 * @param reportReads reports the tiles that were read; called before operations whose answer depends on the use of
 * tiles
 * @param applied awaited before each answer, so that all serving processes have applied the change
 */
export function forwardOperations(
  channel: OperationsChannel,
  { reportReads, applied }: { readonly reportReads?: () => void; readonly applied?: () => Promise<void> },
): Operations {
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
