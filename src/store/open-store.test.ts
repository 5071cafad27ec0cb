import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ManualClock, withMachineTimers } from "../../test/support/manual-clock.ts";
import { thisMachine } from "../lib/this-machine.ts";
import { type OpenedStores, openStores } from "./open-store.ts";
import type { StoreNews } from "./store-news.ts";

test("a store that one process can open again is open in the others at once", async () => {
  const root = mkdtempSync(join(tmpdir(), "nuthatch-open-store-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const path = join(root, "tiles");
  const news: StoreNews[] = [];
  const clock = new ManualClock();
  const machine = { ...thisMachine, clock: withMachineTimers(clock) };
  const openIn = (found: (told: StoreNews) => void): OpenedStores => {
    const stores = [{ id: "one", type: "file", path, layout: "gwc" }] as const;
    const opened = openStores(
      { machine, stores, layers: [], fsync: false, instance: "i", isOwner: false, writes: false, found },
      {},
    );
    onTestFinished(async () => await opened.store[Symbol.asyncDispose]());
    return opened;
  };
  const reader = openIn(() => expect.unreachable("it was told"));
  const coordinator = openIn((told) => {
    news.push(told);
    reader.tell(told);
  });
  const troubleOf = ({ watched: [store] }: OpenedStores) => store?.trouble();
  expect(await troubleOf(coordinator)).toMatchObject({ message: expect.stringContaining("cannot be used") });
  clock.pass(900);
  expect(await troubleOf(reader)).toMatchObject({ message: expect.stringContaining("cannot be used") });
  mkdirSync(path);
  writeFileSync(join(path, ".nuthatch-store"), "identity\n");
  expect(await troubleOf(reader), "it has just tried").toMatchObject({
    message: expect.stringContaining("cannot be used"),
  });
  clock.pass(200);
  expect(await troubleOf(coordinator)).toBeUndefined();
  expect(news).toEqual([{ store: "one", away: null }]);
  expect(await troubleOf(reader)).toBeUndefined();
});
