import { expect, test } from "vitest";
import { machineClock } from "../time/machine-clock.ts";
import { Slices } from "./slices.ts";

test("each turn of the event loop runs one slice, however many works there are", async () => {
  let turn = 0;
  let isOver = false;
  const count = (): void => {
    turn++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const slicesByTurn = new Map<number, number>();
  const work = async (): Promise<void> => {
    const slices = new Slices(machineClock);
    for (let n = 0; n < 3; n++) {
      await slices.next();
      slicesByTurn.set(turn, (slicesByTurn.get(turn) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  isOver = true;
  expect([...slicesByTurn.values()]).toEqual(Array(24).fill(1));
});

test("a work whose signal has fired ends, and the others go on", async () => {
  const aborter = new AbortController();
  const stopped = new Slices(machineClock, aborter.signal).next();
  const goesOn = new Slices(machineClock).next();
  aborter.abort(new Error("the client has disconnected"));
  await expect(stopped).rejects.toThrow("the client has disconnected");
  await goesOn;
});
