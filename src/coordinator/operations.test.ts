import { MessageChannel } from "node:worker_threads";
import { expect, test } from "vitest";
import { forwardOperations } from "../app/serving/forward-operations.ts";
import { Channel } from "../lib/process/channel.ts";
import { OPERATION_ROWS, OPERATION_TABLE, OPERATIONS, operationsOf, type Services } from "./operations.ts";

/** Returns services whose operations return their service, their name and their arguments. */
function services(): Services {
  const fakes = Object.entries(OPERATIONS).map(([service, rows]) => {
    const methods = Object.keys(rows).map((name) => [
      name,
      async (...args: readonly unknown[]) => ({
        service,
        name,
        args: args.map((arg) => (arg instanceof AbortSignal ? "signal" : arg)),
      }),
    ]);
    return [service, Object.fromEntries(methods)];
  });
  return Object.fromEntries(fakes);
}

test("no two services offer an operation of the same name", () => {
  const names = Object.values(OPERATIONS).flatMap((rows) => Object.keys(rows));
  expect(names.length).toBe(OPERATION_ROWS.size);
});

test("each operation reaches its service through a channel, after the reads, and is answered when it is applied", async () => {
  const { port1, port2 } = new MessageChannel();
  new Channel(
    port2,
    operationsOf(() => services()),
    {},
  );
  const near = new Channel(port1, {}, OPERATION_TABLE).remote;
  let [reads, applied] = [0, 0];
  const operations = forwardOperations(near, {
    reportReads: () => void reads++,
    applied: async () => void applied++,
  });
  const signal = new AbortController().signal;
  const known = Object.entries<(...args: unknown[]) => Promise<unknown>>({ ...operations } as never);
  expect(known.map(([name]) => name)).toEqual([...OPERATION_ROWS.keys()]);
  for (const [name, operation] of known) {
    const { service, sending, readsFirst = false } = OPERATION_ROWS.get(name) ?? {};
    [reads, applied] = [0, 0];
    const last = sending === "until" ? signal : "b";
    const args = sending === "until" ? ["a", "signal"] : ["a", "b"];
    expect(await operation("a", last)).toEqual({ service, name, args });
    expect({ name, reads, applied }).toEqual({ name, reads: readsFirst ? 1 : 0, applied: 1 });
  }
  port1.close();
});
