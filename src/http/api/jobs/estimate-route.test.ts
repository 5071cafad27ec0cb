import { once } from "node:events";
import { expect, test } from "vitest";
import { JOB_OPTIONS } from "../../../../test/support/jobs/job-options.ts";
import { layerNamed } from "../../../../test/support/layer.ts";
import type { Operations } from "../../../coordinator/operations.ts";
import { catalogueOf } from "../../../layer/catalogue.ts";
import { machineClock } from "../../../lib/time/machine-clock.ts";
import { refusalProblem } from "../../errors.ts";
import type { Answer } from "../../reply.ts";
import { ClientGone } from "../../request/request.ts";
import type { Exchange } from "../../resource.ts";
import { json } from "../api-operation.ts";
import { type EstimateParts, estimate } from "./estimate-route.ts";

/** Estimates that run until the test ends them. */
class Endless implements Pick<Operations, "estimate" | "estimateAll"> {
  readonly signals: AbortSignal[] = [];

  async estimate(_: unknown, signal: AbortSignal): Promise<never> {
    this.signals.push(signal);
    if (!signal.aborted) await once(signal, "abort");
    throw signal.reason;
  }

  estimateAll(_: unknown, signal: AbortSignal): Promise<never> {
    return this.estimate(_, signal);
  }
}

function routeOf(operations: EstimateParts["operations"], longestMs?: number) {
  return async (signal: AbortSignal, fields: object = {}): Promise<Answer> => {
    const exchange: Pick<Exchange, "catalogue" | "signal" | "body"> = {
      catalogue: catalogueOf([layerNamed("a", {})]),
      signal,
      body: async (decode) => decode(Buffer.from(JSON.stringify({ layer: "a", zoomStop: 1, ...fields }))),
    };
    const estimated = await estimate(
      { operations, configured: () => ({ jobs: JOB_OPTIONS }), clock: machineClock },
      exchange,
      longestMs,
    );
    return estimated.ok ? json(estimated.value) : refusalProblem(estimated.error);
  };
}

const never = new AbortController().signal;

test.each([{}, { layer: undefined, layers: ["a"] }])("an estimate of %j that takes too long is 422", async (fields) => {
  const operations = new Endless();
  const answer = await routeOf(operations, 20)(never, fields);
  expect(answer).toMatchObject({ status: 422, body: expect.stringContaining("took longer than 0.02 seconds") });
  expect(operations.signals).toMatchObject([{ aborted: true }]);
});

test("an estimate ends when its client has gone", async () => {
  const operations = new Endless();
  const client = new AbortController();
  const answer = routeOf(operations)(client.signal);
  const reported = expect(answer).rejects.toBeInstanceOf(ClientGone);
  client.abort();
  await reported;
  for (const signal of operations.signals) expect(signal.aborted).toBe(true);
});

test("beside four estimates a fifth is 503 with Retry-After, until one of them has ended", async () => {
  const request = routeOf(new Endless());
  const clients = Array.from({ length: 4 }, () => new AbortController());
  const requested = clients.map(({ signal }) => expect(request(signal)).rejects.toBeInstanceOf(ClientGone));
  await Promise.resolve();
  expect(await request(never)).toMatchObject({ status: 503, headers: { "Retry-After": "1" } });
  clients[0]?.abort();
  await requested[0];
  const next = new AbortController();
  const fifth = expect(request(next.signal)).rejects.toBeInstanceOf(ClientGone);
  for (const client of [next, ...clients]) client.abort();
  await Promise.all([...requested, fifth]);
});
