import { expect, test } from "vitest";
import { machineClock } from "../../../lib/time/machine-clock.ts";
import { ServerEvents } from "./server-events.ts";

const NEVER = new AbortController().signal;
const forgotten = (id: number) => ({ kind: "forgotten", id }) as const;

test("an id leads back to its number, but only in the life of the server that gave it", () => {
  const events = new ServerEvents("aa", machineClock);
  events.publish(forgotten(7));
  expect(events.numberOf(events.idOf(1))).toBe(1);
  expect(events.numberOf("bb-1")).toBeUndefined();
  expect(events.numberOf("aa-2")).toBeUndefined();
  expect(events.numberOf("")).toBeUndefined();
  expect(events.at(1)).toMatchObject({ data: '{"id":7}' });
  expect(events.at(2)).toBeUndefined();
});

test("the last thousand events are remembered, earlier ones are gone", () => {
  const events = new ServerEvents("aa", machineClock);
  for (let id = 1; id <= 1_001; id++) events.publish(forgotten(id));
  expect(events.last).toBe(1_001);
  expect(events.at(1)).toBe("gone");
  expect(events.at(2)).toMatchObject({ data: '{"id":2}' });
  expect(events.at(1_001)).toMatchObject({ data: '{"id":1001}' });
});

test("a waiting listener is released by an event, by its signal, and by the close", async () => {
  const events = new ServerEvents("aa", machineClock);
  const byEvent = events.next(0, 60_000, NEVER);
  events.publish(forgotten(1));
  await byEvent;
  await events.next(0, 60_000, NEVER);
  const abort = new AbortController();
  const bySignal = events.next(1, 60_000, abort.signal);
  abort.abort();
  await bySignal;
  const byClose = events.next(1, 60_000, NEVER);
  events.close();
  await byClose;
  await events.next(1, 60_000, NEVER);
  expect(events.closed).toBe(true);
});
