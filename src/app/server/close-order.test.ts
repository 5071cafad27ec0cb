import { expect, test } from "vitest";
import { machineClock } from "../../lib/time/machine-clock.ts";
import { type ClosingParts, closeInOrder } from "./close-order.ts";

function parts(more: { readonly idle?: () => Promise<void>; readonly closeRenderers?: () => Promise<void> } = {}) {
  const events: string[] = [];
  const step = (name: string) => async () => void events.push(name);
  const all: ClosingParts = {
    coordinator: { stop: step("jobs"), releaseState: step("state") },
    serving: { close: step("serving") },
    renders: {
      cancelUnanswered: () => void events.push("cancel unanswered"),
      cancelAll: () => void events.push("cancel all"),
      idle: more.idle ?? step("renders"),
    },
    renderers: { close: more.closeRenderers ?? step("renderers") },
    clock: machineClock,
  };
  return { events, all };
}

test("the database and the lock are released last, after renders have ended and renderers are gone", async () => {
  const { events, all } = parts();
  await closeInOrder(all, 1_000);
  expect(events).toEqual([
    "jobs",
    "serving",
    "cancel unanswered",
    "renders",
    "cancel all",
    "renders",
    "renderers",
    "renders",
    "state",
  ]);
});

test("a render that has answered its user is finished before the state is released", async () => {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const { events, all } = parts({ idle: () => ended });
  const closed = closeInOrder(all, 60_000);
  await expect.poll(() => events).toEqual(["jobs", "serving", "cancel unanswered"]);
  end();
  await closed;
  expect(events.slice(3)).toEqual(["cancel all", "renderers", "state"]);
});

test("a render that does not end holds the shutdown until its renderer has been ended by force", async () => {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const { events, all } = parts({
    idle: () => ended,
    closeRenderers: async () => {
      events.push("renderers");
      end();
    },
  });
  await closeInOrder(all, 1);
  expect(events.slice(-2)).toEqual(["renderers", "state"]);
});
