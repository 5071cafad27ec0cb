import { once } from "node:events";
import { expect, test } from "vitest";
import { JOB_OPTIONS } from "../../../../test/support/jobs/job-options.ts";
import { layerNamed } from "../../../../test/support/layer.ts";
import type { Operations } from "../../../coordinator/operations.ts";
import { catalogueOf } from "../../../layer/catalogue.ts";
import { refusalProblem } from "../../errors.ts";
import type { Answer } from "../../reply.ts";
import { ClientGone } from "../../request.ts";
import type { Exchange } from "../../resource.ts";
import { type EstimateParts, estimateHandler } from "./estimate-route.ts";

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
  const post = estimateHandler({ operations, jobOptions: () => JOB_OPTIONS }, longestMs);
  return async (signal: AbortSignal, fields: object = {}): Promise<Answer> => {
    const exchange: Exchange = {
      target: { mount: "", path: "/api/v1/estimate", query: "" },
      headers: {},
      query: new URLSearchParams(),
      origin: "http://h",
      base: "http://h",
      catalogue: catalogueOf([layerNamed("a", {})]),
      caller: { kind: "local" },
      address: "127.0.0.1",
      by: null,
      signal,
      isStillPermitted: () => true,
      body: async (decode) => decode(Buffer.from(JSON.stringify({ layer: "a", zoomStop: 1, ...fields }))),
    };
    const reply = await post.handle(exchange);
    return "ok" in reply ? refusalProblem(reply.error) : reply;
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
