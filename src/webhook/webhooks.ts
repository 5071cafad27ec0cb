import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { type JobMoment, type Webhook, webhookOrigin } from "../jobs/job-event.ts";
import { jsonText } from "../lib/json-text.ts";
import type { Logger } from "../lib/logger.ts";
import type { JobView } from "../plan/job-request.ts";
import type { Delivery, WebhookOutbox } from "./webhook-outbox.ts";
import type { WebhookPost } from "./webhook-post.ts";

export interface WebhooksParts {
  readonly outbox: WebhookOutbox;
  readonly webhooks: () => readonly Webhook[];
  readonly post: WebhookPost;
  readonly transaction: (body: () => void) => void;
  /** What to put right should the transaction in hand be rolled back. */
  readonly onRollback: (undo: () => void) => void;
  /** The database could not be written. */
  readonly fault: (error: unknown) => void;
  /** ms since 1970 by the wall clock: what receivers are told. */
  readonly now: () => number;
  /**
   * ms by a clock that goes on from the wall clock of the start and never steps: a clock that is set does not have
   * deliveries wait for hours, or given up in their first attempt.
   */
  readonly monotonicNow: () => number;
  /** 0 ≤ n < 1. */
  readonly random: () => number;
  readonly log: Logger;
}

/** Since the start of the server; `pending`: now. */
export interface WebhookMetrics {
  readonly delivered: number;
  readonly failed: number;
  readonly pending: number;
}

/** Deliveries in flight, of all webhooks and of one: one that hangs leaves places to the others. */
const AT_ONCE = 8;
const AT_ONCE_EACH = 2;
/** Pauses after failed attempts: the first and the longest, ms. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 3_600_000;
/** The longest pause with its jitter. */
const LONGEST_WAIT_MS = 1.25 * LONGEST_PAUSE_MS;
/** So long a delivery is tried. */
const GIVEN_UP_MS = 86_400_000;
/** Of one webhook; some 2 KiB each. The newest are worth more than the oldest. */
const MOST_KEPT = 10_000;

/** What became of an attempt, to be written. */
interface Settled {
  readonly delivery: Delivery;
  readonly outcome: "delivered" | "failed" | { readonly dueMs: number };
}

/**
 * Tells webhooks of jobs. What is to be told is kept with the job, in one transaction, and removed when it has been taken:
 * at least once, in no order, whatever kills the process. Driven by the coordinator's tick.
 */
export class Webhooks {
  readonly #parts: WebhooksParts;
  /** By number; until what became of it has been written. */
  readonly #inFlight = new Map<number, { readonly webhook: string; readonly done: Promise<void> }>();
  #settled: Settled[] = [];
  /** Webhooks whose last attempt failed, and those that had more than is kept: told once. */
  readonly #failing = new Set<string>();
  readonly #overflowing = new Set<string>();
  readonly #counts = { delivered: 0, failed: 0 };
  readonly #closing = new AbortController();

  constructor(parts: WebhooksParts) {
    this.#parts = parts;
    // Each delivery on its way listens to it: more than ten are no leak, as Node would tell.
    setMaxListeners(0, this.#closing.signal);
  }

  /** Something has happened to a job; inside the transaction that writes it. */
  announce(event: JobMoment, layer: string, view: () => JobView): void {
    const { outbox, webhooks, onRollback, monotonicNow, log } = this.#parts;
    let job: string | undefined;
    for (const webhook of webhooks()) {
      if (!webhook.events.includes(event) || webhook.layers?.includes(layer) === false) continue;
      job ??= jsonText(view());
      outbox.add(webhook.id, { id: randomUUID(), event, job, createdMs: monotonicNow() });
      if (outbox.count(webhook.id) <= MOST_KEPT) continue;
      outbox.removeOldest(webhook.id);
      this.#counts.failed++;
      onRollback(() => this.#counts.failed--);
      if (this.#overflowing.has(webhook.id)) continue;
      this.#overflowing.add(webhook.id);
      log.warn("a webhook is owed more than is kept; it is no longer told the oldest", {
        webhook: webhookOrigin(webhook),
        kept: MOST_KEPT,
      });
    }
  }

  /** What is for webhooks that the configuration no longer has is not told. */
  reconfigured(): void {
    const { outbox, webhooks, transaction, fault, log } = this.#parts;
    let gone = 0;
    try {
      transaction(() => {
        gone = outbox.removeOthers(webhooks().map(({ id }) => id));
      });
    } catch (error) {
      fault(error);
      return;
    }
    if (gone === 0) return;
    this.#counts.failed += gone;
    log.warn("deliveries to webhooks that are no longer configured have been dropped", { deliveries: gone });
  }

  /** Sends what is due and may be sent. */
  tick(): void {
    if (this.#closing.signal.aborted) return;
    this.#write();
    const { outbox, webhooks, monotonicNow } = this.#parts;
    for (const webhook of webhooks()) {
      const busy = [...this.#inFlight.values()].filter((other) => other.webhook === webhook.id).length;
      const places = Math.min(AT_ONCE_EACH - busy, AT_ONCE - this.#inFlight.size);
      if (places <= 0) continue;
      const due = outbox
        .due(webhook.id, monotonicNow(), LONGEST_WAIT_MS, busy + places)
        .filter(({ number }) => !this.#inFlight.has(number));
      for (const delivery of due.slice(0, places))
        this.#inFlight.set(delivery.number, { webhook: webhook.id, done: this.#deliver(webhook, delivery) });
    }
  }

  async #deliver(webhook: Webhook, delivery: Delivery): Promise<void> {
    const { post, now } = this.#parts;
    const { signal } = this.#closing;
    const failure = await post.send(webhook, delivery, now(), signal);
    // It is kept, and sent again by the next life of the server.
    if (signal.aborted && failure !== undefined) return;
    const outcome = failure === undefined ? "delivered" : this.#outcomeOf(delivery);
    this.#report(webhook, delivery, outcome, failure);
    this.#settled.push({ delivery, outcome });
    this.tick();
  }

  #outcomeOf({ createdMs, attempts }: Delivery): Settled["outcome"] {
    const { monotonicNow, random } = this.#parts;
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempts) * (0.75 + random() / 2);
    const dueMs = monotonicNow() + Math.round(pauseMs);
    return dueMs - createdMs > GIVEN_UP_MS ? "failed" : { dueMs };
  }

  #report(webhook: Webhook, { id, event, attempts }: Delivery, outcome: Settled["outcome"], reason?: string): void {
    const { log } = this.#parts;
    const about = { webhook: webhookOrigin(webhook), delivery: id, event };
    if (outcome === "delivered") {
      this.#overflowing.delete(webhook.id);
      if (this.#failing.delete(webhook.id)) log.info("a webhook takes what it is told again", about);
      return;
    }
    if (outcome === "failed") log.warn("a delivery to a webhook has been given up", { ...about, attempts, reason });
    else if (!this.#failing.has(webhook.id))
      log.warn("a webhook has not taken what it was told; it will be told again", { ...about, reason });
    this.#failing.add(webhook.id);
  }

  /** What could not be written is written by a later tick, and not sent again before. */
  #write(): void {
    const { outbox, transaction, fault } = this.#parts;
    const settled = this.#settled;
    if (settled.length === 0) return;
    try {
      transaction(() => {
        for (const { delivery, outcome } of settled) {
          if (typeof outcome === "object") outbox.postpone(delivery.number, outcome.dueMs);
          else outbox.remove(delivery.number);
        }
      });
    } catch (error) {
      fault(error);
      return;
    }
    this.#settled = [];
    for (const { delivery, outcome } of settled) {
      this.#inFlight.delete(delivery.number);
      if (typeof outcome === "string") this.#counts[outcome]++;
    }
  }

  metrics(): WebhookMetrics {
    return { ...this.#counts, pending: this.#parts.outbox.count() };
  }

  /** What is in flight is cut off: it is sent again after the next start. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#inFlight.values()].map(({ done }) => done));
    this.#write();
    await this.#parts.post[Symbol.asyncDispose]();
  }
}
