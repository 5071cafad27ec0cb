import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { machineClock } from "../../../lib/time/machine-clock.ts";
import { eventStreams } from "./events-route.ts";
import { ServerEvents } from "./server-events.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

type StreamCall = Parameters<ReturnType<typeof eventStreams>>[0];
const callOf = (fields: StreamCall["fields"], signal: AbortSignal): StreamCall => ({
  fields,
  headers: {},
  caller: { kind: "local" },
  signal,
  isStillPermitted: () => true,
});

/** Opens the event stream of job 1. `parts` grows as the stream is sent. */
async function listen(events: ServerEvents): Promise<{ readonly parts: string[]; readonly stop: () => Promise<void> }> {
  const aborter = new AbortController();
  const streamOf = eventStreams({
    events: events,
    clock: machineClock,
    operations: { jobs: async () => [], tileChanges: async () => [], isSession: async () => true },
  });
  const answer = await streamOf(callOf({ job: 1 }, aborter.signal));
  const body = answer === undefined || "ok" in answer ? undefined : answer.body;
  if (body === undefined || typeof body === "string" || body instanceof Uint8Array) throw new Error("no stream");
  const parts: string[] = [];
  const read = (async () => {
    for await (const part of body) parts.push(part);
  })();
  return {
    parts,
    stop: () => {
      aborter.abort();
      return read;
    },
  };
}

test("a stream whose filter leaves out all that happens has a comment every 15 s, with the last id", async () => {
  const events = new ServerEvents("aa", machineClock);
  const { parts, stop } = await listen(events);
  await vi.advanceTimersByTimeAsync(0);
  expect(parts.splice(0)).toEqual(["retry: 2000\n\n", expect.stringContaining("event: snapshot\nid: aa-0\n")]);
  const at: number[] = [];
  for (let second = 1; second <= 60; second++) {
    events.publish({ kind: "forgotten", id: 2 });
    await vi.advanceTimersByTimeAsync(1000);
    const [part, ...more] = parts.splice(0);
    expect(more).toEqual([]);
    if (part === undefined) continue;
    expect(part).toMatch(/^: .*\nid: aa-\d+\n\n$/);
    expect(events.last - (events.numberOf(/aa-\d+/.exec(part)?.[0] ?? "") ?? 0), "events behind").toBeLessThanOrEqual(
      1,
    );
    at.push(second);
  }
  const gaps = at.map((second, n) => second - (at[n - 1] ?? 0));
  expect(at.length).toBe(4);
  expect(Math.max(...gaps)).toBeLessThanOrEqual(15);
  await stop();
});

test("a stream that is sent events has no comment between them, and one where nothing happens has", async () => {
  const events = new ServerEvents("aa", machineClock);
  const { parts, stop } = await listen(events);
  await vi.advanceTimersByTimeAsync(0);
  parts.length = 0;
  for (let n = 1; n <= 20; n++) {
    events.publish({ kind: "forgotten", id: 1 });
    await vi.advanceTimersByTimeAsync(1000);
  }
  expect(parts.splice(0).map((part) => part.split("\n", 1)[0])).toEqual(Array(20).fill("event: forgotten"));
  await vi.advanceTimersByTimeAsync(29_000);
  expect(parts).toEqual([": still here\nid: aa-20\n\n", ": still here\nid: aa-20\n\n"]);
  await stop();
});

test("a stream ends when the session of its caller has been closed", async () => {
  const events = new ServerEvents("aa", machineClock);
  let isOpen = true;
  const streamOf = eventStreams({
    events,
    clock: machineClock,
    operations: { jobs: async () => [], tileChanges: async () => [], isSession: async () => isOpen },
  });
  const user = { name: "a", passwordHash: "", roles: ["viewer"] } as const;
  const answer = await streamOf({
    ...callOf({}, new AbortController().signal),
    headers: { cookie: `nuthatch_session=${"t".repeat(43)}` },
    caller: { kind: "user", user, csrfToken: "token" },
  });
  const body = answer === undefined || "ok" in answer ? undefined : answer.body;
  if (body === undefined || typeof body === "string" || body instanceof Uint8Array) throw new Error("no stream");
  let isEnded = false;
  const read = (async () => {
    for await (const _ of body);
    isEnded = true;
  })();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(isEnded).toBe(false);
  isOpen = false;
  await vi.advanceTimersByTimeAsync(15_000);
  expect(isEnded).toBe(true);
  await read;
});

test("the stream after a thousand is refused, and is accepted again once one has ended", async () => {
  const streamOf = eventStreams({
    events: new ServerEvents("aa", machineClock),
    clock: machineClock,
    operations: { jobs: async () => [], tileChanges: async () => [], isSession: async () => true },
  });
  const open = async (signal = new AbortController().signal) => streamOf(callOf({ job: 1 }, signal));
  const first = new AbortController();
  await open(first.signal);
  await Promise.all(Array.from({ length: 999 }, () => open()));
  expect(await open()).toMatchObject({ ok: false, error: { code: "too_many_requests" } });
  first.abort();
  expect(await open()).toMatchObject({ status: 200 });
});
