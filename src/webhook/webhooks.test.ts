import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { jobRequest } from "../../test/support/jobs/job-request.ts";
import { ManualClock } from "../../test/support/manual-clock.ts";
import { openTestDatabase } from "../../test/support/postgres/test-database.ts";
import { evenRandom } from "../../test/support/random.ts";
import type { JobMoment, Webhook } from "../jobs/job-event.ts";
import { viewOf } from "../jobs/view/job-view.ts";
import { countRanges } from "../plan/count-tiles.ts";
import { emptyProgress } from "../plan/job/job-progress.ts";
import { STANDARD_TERMS } from "../plan/job/job-terms.ts";
import { type Database, int } from "../state/database.ts";
import { type Delivery, WebhookOutbox, webhookTables } from "./webhook-outbox.ts";
import { Webhooks, type WebhooksParts } from "./webhooks.ts";

let directory: string;
let db: Database;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nuthatch-webhooks-"));
  db = openTestDatabase(join(directory, "state.db"));
  db.createTables([webhookTables]);
});
afterEach(() => {
  db.close();
  rmSync(directory, { recursive: true });
});

const request = jobRequest();
const view = () =>
  viewOf({
    id: 7,
    state: "done",
    request,
    progress: emptyProgress(countRanges(request)),
    createdMs: 0,
    startedMs: 0,
    endedMs: 0,
    tasks: [{ id: 1 }],
    paused: false,
    createdBy: null,
    retryOf: null,
    schedule: null,
    requestedWith: null,
    hold: null,
    terms: STANDARD_TERMS,
  });
const hook = (id: string, more: Partial<Webhook> = {}): Webhook => ({
  id,
  url: `http://${id}.test/token`,
  events: ["done"],
  layers: null,
  secret: "s3cret",
  ...more,
});

/** Webhooks whose server is a function. It returns the text of a failure, or undefined. */
function life(
  webhooks: readonly Webhook[],
  answer: (webhook: Webhook, delivery: Delivery) => Promise<string | undefined>,
) {
  const clock = new ManualClock(1_000_000);
  const sent: { to: string; id: string; ms: number }[] = [];
  const logged: string[] = [];
  const log = (sentence: string, fields?: object) => void logged.push(`${sentence} ${JSON.stringify(fields)}`);
  let inFlight = 0;
  let most = 0;
  const parts: WebhooksParts = {
    outbox: new WebhookOutbox(db),
    webhooks: () => webhooks,
    post: {
      async send(webhook, delivery) {
        sent.push({ to: webhook.id, id: delivery.id, ms: clock.monotonicNow() });
        most = Math.max(most, ++inFlight);
        const failure = await answer(webhook, delivery);
        inFlight--;
        return failure;
      },
      async [Symbol.asyncDispose]() {},
    },
    db,
    state: { fault: (error) => log(String(error)) },
    clock,
    random: evenRandom,
    log: { info: log, warn: log, error: log },
  };
  const reported = new Webhooks(parts);
  const announce = (moment: JobMoment, layer = "a") => db.transaction(() => reported.announce(moment, layer, view));
  return { webhooks: reported, clock, sent, logged, announce, most: () => most };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("a webhook gets the events of its own types and layers, and none that was rolled back", async () => {
  const at = life(
    [hook("all"), hook("b", { layers: ["b"] }), hook("paused", { events: ["paused"] })],
    async () => undefined,
  );
  at.announce("done");
  at.announce("paused", "b");
  expect(() =>
    db.transaction(() => {
      at.webhooks.announce("done", "b", view);
      throw new Error("the disk is full");
    }),
  ).toThrow("the disk is full");
  expect(at.webhooks.metrics()).toEqual({ delivered: 0, failed: 0, pending: 2 });
  at.webhooks.tick();
  await settled();
  expect(at.sent.map(({ to }) => to)).toEqual(["all", "paused"]);
  expect(at.webhooks.metrics()).toEqual({ delivered: 2, failed: 0, pending: 0 });
});

test("a failed delivery is repeated with growing pauses under the same id, for a day; the log names the failure without the address", async () => {
  const at = life([hook("down")], async () => "status 500");
  at.announce("done");
  const end = at.clock.monotonicNow() + 2 * 86_400_000;
  while (at.clock.monotonicNow() < end && at.webhooks.metrics().pending > 0) {
    at.webhooks.tick();
    await settled();
    at.clock.pass(500);
    // No delivery is due before the longest pause ends from here on.
    if (at.sent.length > 12) at.clock.pass(600_000);
  }
  const pauses = at.sent.slice(1).map(({ ms }, i) => ms - (at.sent[i]?.ms ?? 0));
  expect(pauses.slice(0, 6)).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000]);
  expect(Math.max(...pauses)).toBeLessThan(3_600_000 + 601_000);
  expect(new Set(at.sent.map(({ id }) => id)).size).toBe(1);
  const last = at.sent.at(-1)?.ms ?? 0;
  expect([last > 1_000_000 + 80_000_000, last <= 1_000_000 + 86_400_000]).toEqual([true, true]);
  expect(at.webhooks.metrics()).toEqual({ delivered: 0, failed: 1, pending: 0 });
  expect(at.logged).toHaveLength(2);
  expect(at.logged.join()).not.toMatch(/token|s3cret/);
});

test("few are in flight at a time, and a webhook that hangs holds up no other", async () => {
  const at = life([hook("hangs"), hook("well")], (webhook) =>
    webhook.id === "hangs" ? new Promise(() => undefined) : Promise.resolve(undefined),
  );
  for (let n = 0; n < 10; n++) at.announce("done");
  at.webhooks.tick();
  for (let n = 0; n < 20; n++) await settled();
  expect(at.sent.filter(({ to }) => to === "hangs")).toHaveLength(2);
  expect(at.most()).toBeLessThanOrEqual(4);
  expect(at.webhooks.metrics()).toEqual({ delivered: 10, failed: 0, pending: 10 });
});

test("after a restart undelivered events are sent, and those of removed webhooks are deleted", async () => {
  const first = life([hook("a"), hook("b")], async () => "ECONNREFUSED");
  first.announce("done");
  first.webhooks.tick();
  await settled();
  const second = life([hook("a")], async () => undefined);
  second.clock.set(first.clock.now() + 1000);
  second.webhooks.reconfigured();
  second.webhooks.tick();
  await settled();
  expect(second.sent.map(({ to, id }) => [to, id])).toEqual([["a", first.sent[0]?.id]]);
  expect(second.webhooks.metrics()).toEqual({ delivered: 1, failed: 1, pending: 0 });
  await second.webhooks.close();
});

test("a wall clock that is set neither puts a delivery off nor has it given up", async () => {
  let isDown = true;
  const at = life([hook("w")], async () => (isDown ? "status 500" : undefined));
  at.announce("done");
  at.webhooks.tick();
  await settled();
  for (const stepMs of [-3_600_000, 10 * 86_400_000, -86_400_000]) {
    at.clock.setWallClock(stepMs);
    const { length } = at.sent;
    at.clock.pass(10_000);
    at.webhooks.tick();
    await settled();
    expect(at.sent).toHaveLength(length + 1);
  }
  isDown = false;
  at.clock.pass(10_000);
  at.webhooks.tick();
  await settled();
  at.webhooks.tick();
  expect(at.webhooks.metrics()).toEqual({ delivered: 1, failed: 0, pending: 0 });
});

test("deliveries that were written before the clock was set back are due at the next start", async () => {
  const before = life([hook("w")], async () => undefined);
  before.clock.pass(30 * 86_400_000);
  before.announce("done");
  const after = life([hook("w")], async () => undefined);
  after.webhooks.tick();
  await settled();
  expect(after.sent).toHaveLength(1);
});

test("beyond 10,000 deliveries of a webhook the oldest go, whatever is rolled back, sent or in flight", async () => {
  let answer = (_: string | undefined): void => undefined;
  const at = life([hook("slow")], () => new Promise((resolve) => (answer = resolve)));
  const numbers = () =>
    db
      .prepare("SELECT count(*) AS pending, min(number) AS oldest FROM webhook_delivery")
      .all()
      .map((row) => [int(row, "pending"), int(row, "oldest")])[0];
  const announceMany = (count: number) =>
    db.transaction(() => {
      for (let n = 0; n < count; n++) at.webhooks.announce("done", "a", view);
    });
  announceMany(10_000);
  expect(() =>
    db.transaction(() => {
      at.webhooks.announce("done", "a", view);
      throw new Error("the disk is full");
    }),
  ).toThrow("the disk is full");
  expect([numbers(), at.webhooks.metrics().failed]).toEqual([[10_000, 1], 0]);
  at.webhooks.tick();
  announceMany(3);
  expect([numbers(), at.webhooks.metrics().failed]).toEqual([[10_000, 4], 3]);
  // The delivery in flight has been removed as one of the oldest, so its end frees no space.
  answer(undefined);
  await settled();
  expect(at.logged).toHaveLength(1);
  announceMany(1);
  expect(numbers()).toEqual([10_000, 5]);
});
