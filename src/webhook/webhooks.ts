import { setMaxListeners } from "node:events";
import { type JobMoment, type Webhook, webhookOrigin } from "../jobs/job-event.ts";
import type { LayerName } from "../layer/tile-set.ts";
import type { ServiceParts } from "../ledger/service-parts.ts";
import type { StateWriter } from "../ledger/state-writer.ts";
import { jsonText } from "../lib/text/json-text.ts";
import { type BackOff, jittered, pauseAfter } from "../lib/time/back-off.ts";
import type { JobView } from "../plan/job/job-documents.ts";
import type { Database } from "../state/database.ts";
import { LastRead } from "../state/state-wait.ts";
import type { Delivery, WebhookOutbox } from "./webhook-outbox.ts";
import type { WebhookPost } from "./webhook-post.ts";

export interface WebhooksParts extends Pick<ServiceParts, "clock" | "random" | "log"> {
  readonly state: Pick<StateWriter, "fault">;
  readonly db: Pick<Database, "transaction" | "onRollback">;
  readonly outbox: WebhookOutbox;
  readonly webhooks: () => readonly Webhook[];
  readonly post: WebhookPost;
}

/** Limits of deliveries in flight, of all webhooks and of one, so that a slow receiver does not block the others. */
const AT_ONCE = 8;
const AT_ONCE_EACH = 2;
/** The pauses after failed attempts. */
const BACK_OFF: BackOff = { firstMs: 1_000, longestMs: 3_600_000 };
/** The longest pause with its jitter. */
const LONGEST_WAIT_MS = jittered(BACK_OFF.longestMs, 1);
/** A delivery is given up after this time. */
const GIVEN_UP_MS = 86_400_000;
/** Deliveries stored for one webhook, some 2 KiB each. Beyond this the oldest delivery is removed. */
const MOST_DELIVERIES = 10_000;

/** The outcome of an attempt, still to be written to the database. */
interface AttemptOutcome {
  readonly delivery: Delivery;
  readonly outcome: "delivered" | "failed" | { readonly dueMs: number };
}

/**
 * Sends job events to webhooks. A delivery is written in the transaction of its job and removed after the receiver has
 * accepted it. It is sent at least once, in no fixed order, even if the process is killed. The coordinator's tick
 * drives the deliveries.
 */
export class Webhooks {
  readonly #parts: WebhooksParts;
  /** Deliveries in flight by number. A delivery stays here until its outcome has been written. */
  readonly #inFlight = new Map<number, { readonly webhook: string; readonly done: Promise<void> }>();
  #outcomes: AttemptOutcome[] = [];
  /** The number of pending deliveries by webhook. Counting thousands of rows at each event would take too long. */
  readonly #pending = new Map<string, number>();
  /** Webhooks whose last attempt failed, and webhooks whose oldest deliveries were removed. Each is logged once. */
  readonly #failing = new Set<string>();
  readonly #overflowing = new Set<string>();
  readonly #counts = { delivered: 0, failed: 0 };
  /** The number of deliveries in the database. */
  readonly #stored = new LastRead(0);
  readonly #closing = new AbortController();

  constructor(parts: WebhooksParts) {
    this.#parts = parts;
    // Each delivery in flight listens to the signal. Node would warn of a leak at more than ten listeners.
    setMaxListeners(0, this.#closing.signal);
  }

  /** Stores the deliveries of a job event. Called inside the transaction that writes the job. */
  announce(event: JobMoment, layer: LayerName, view: () => JobView): void {
    const { outbox, webhooks, db, clock, random, log } = this.#parts;
    let job: string | undefined;
    for (const webhook of webhooks()) {
      if (!webhook.events.includes(event) || webhook.layers?.includes(layer) === false) continue;
      job ??= jsonText(view());
      outbox.add(webhook.id, { id: random.uuid(), event, job, createdMs: clock.monotonicNow() });
      const pending = this.#pending.get(webhook.id) ?? outbox.count(webhook.id) - 1;
      this.#pending.set(webhook.id, pending + 1);
      db.onRollback(() => this.#pending.set(webhook.id, pending));
      if (pending < MOST_DELIVERIES) continue;
      outbox.removeOldest(webhook.id);
      this.#pending.set(webhook.id, pending);
      this.#counts.failed++;
      db.onRollback(() => this.#counts.failed--);
      if (this.#overflowing.has(webhook.id)) continue;
      this.#overflowing.add(webhook.id);
      log.warn("a webhook has too many pending deliveries; the oldest are discarded", {
        webhook: webhookOrigin(webhook),
        kept: MOST_DELIVERIES,
      });
    }
  }

  /** Removes deliveries to webhooks that are no longer configured. */
  reconfigured(): void {
    const { outbox, webhooks, db, state, log } = this.#parts;
    let gone = 0;
    try {
      db.transaction(() => {
        gone = outbox.removeOthers(webhooks().map(({ id }) => id));
      });
    } catch (error) {
      state.fault(error);
      return;
    }
    this.#pending.clear();
    if (gone === 0) return;
    this.#counts.failed += gone;
    log.warn("deliveries to webhooks that are no longer configured were discarded", { deliveries: gone });
  }

  /** Writes the outcomes of attempts, and sends the due deliveries within the limits. */
  tick(): void {
    if (this.#closing.signal.aborted) return;
    this.#write();
    const { outbox, webhooks, clock } = this.#parts;
    for (const webhook of webhooks()) {
      const busy = [...this.#inFlight.values()].filter((other) => other.webhook === webhook.id).length;
      const free = Math.min(AT_ONCE_EACH - busy, AT_ONCE - this.#inFlight.size);
      if (free <= 0) continue;
      const due = outbox
        .due(webhook.id, clock.monotonicNow(), LONGEST_WAIT_MS, busy + free)
        .filter(({ number }) => !this.#inFlight.has(number));
      for (const delivery of due.slice(0, free))
        this.#inFlight.set(delivery.number, { webhook: webhook.id, done: this.#deliver(webhook, delivery) });
    }
  }

  async #deliver(webhook: Webhook, delivery: Delivery): Promise<void> {
    const { post, clock } = this.#parts;
    const { signal } = this.#closing;
    const failure = await post.send(webhook, delivery, clock.now(), signal);
    // The delivery stays in the database, and the next start of the server sends it again.
    if (signal.aborted && failure !== undefined) return;
    const outcome = failure === undefined ? "delivered" : this.#outcomeOf(delivery);
    this.#report(webhook, delivery, outcome, failure);
    this.#outcomes.push({ delivery, outcome });
    this.tick();
  }

  #outcomeOf({ createdMs, attempts }: Delivery): AttemptOutcome["outcome"] {
    const { clock, random } = this.#parts;
    const pauseMs = jittered(pauseAfter(attempts + 1, BACK_OFF), random.fraction());
    const dueMs = clock.monotonicNow() + Math.round(pauseMs);
    return dueMs - createdMs > GIVEN_UP_MS ? "failed" : { dueMs };
  }

  #report(
    webhook: Webhook,
    { id, event, attempts }: Delivery,
    outcome: AttemptOutcome["outcome"],
    reason?: string,
  ): void {
    const { log } = this.#parts;
    const about = { webhook: webhookOrigin(webhook), delivery: id, event };
    if (outcome === "delivered") {
      this.#overflowing.delete(webhook.id);
      if (this.#failing.delete(webhook.id)) log.info("deliveries to a webhook succeed again", about);
      return;
    }
    if (outcome === "failed") log.warn("a delivery to a webhook was given up", { ...about, attempts, reason });
    else if (!this.#failing.has(webhook.id))
      log.warn("a delivery to a webhook failed and will be sent again", { ...about, reason });
    this.#failing.add(webhook.id);
  }

  /**
   * Writes the outcomes of attempts. If the database fails, a later tick writes them. Until then these deliveries are
   * not sent again.
   */
  #write(): void {
    const { outbox, db, state } = this.#parts;
    const outcomes = this.#outcomes;
    if (outcomes.length === 0) return;
    const removed = new Set<Delivery>();
    try {
      db.transaction(() => {
        for (const { delivery, outcome } of outcomes) {
          if (typeof outcome === "object") outbox.postpone(delivery.number, outcome.dueMs);
          else if (outbox.remove(delivery.number)) removed.add(delivery);
        }
      });
    } catch (error) {
      state.fault(error);
      return;
    }
    this.#outcomes = [];
    for (const { delivery, outcome } of outcomes) {
      const { webhook = "" } = this.#inFlight.get(delivery.number) ?? {};
      this.#inFlight.delete(delivery.number);
      if (typeof outcome === "string") this.#counts[outcome]++;
      const pending = this.#pending.get(webhook);
      if (removed.has(delivery) && pending !== undefined) this.#pending.set(webhook, pending - 1);
    }
  }

  /** Returns the number of deliveries by outcome since the start of the server, and the number of stored deliveries. */
  metrics() {
    return { ...this.#counts, pending: this.#stored.read(() => this.#parts.outbox.count()) };
  }

  /** Aborts the deliveries in flight. They are sent again after the next start. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#inFlight.values()].map(({ done }) => done));
    this.#write();
    await this.#parts.post[Symbol.asyncDispose]();
  }
}
