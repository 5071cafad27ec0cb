import { expect, test } from "vitest";
import { LATENCY_WINDOW_MS, UpstreamHealth } from "./upstream-health.ts";

test("a state begins with the answer, or with the first failure of an outage", () => {
  let nowMs = 1_000;
  const health = new UpstreamHealth(() => nowMs);
  const since = (isDown: boolean) => {
    const { state, since } = health.view(isDown);
    return [state, Date.parse(since)];
  };
  expect(since(false)).toEqual(["unknown", 1_000]);
  nowMs = 2_000;
  health.failed("refused", "no connection", false);
  nowMs = 3_000;
  health.failed("timeout", "no answer", false);
  expect(since(false)).toEqual(["unknown", 1_000]);
  expect(since(true)).toEqual(["down", 2_000]);
  nowMs = 4_000;
  health.answered(10, true);
  expect(since(false)).toEqual(["up", 4_000]);
  nowMs = 5_000;
  health.failed("http_status", "status 404", false);
  health.failed("cancelled", "cancelled", false);
  health.answered(10, false);
  expect(since(false)).toEqual(["up", 4_000]);
  expect(health.view(false).lastError).toEqual({
    at: "1970-01-01T00:00:05.000Z",
    class: "http_status",
    message: "status 404",
  });
});

test("the latency is that of the last minutes", () => {
  let nowMs = 0;
  const health = new UpstreamHealth(() => nowMs);
  expect(health.view(false).latency).toBeNull();
  for (let n = 1; n <= 2_000; n++) health.answered(n, false);
  expect(health.view(false).latency).toMatchObject({ windowSeconds: 300, requests: 512, p50Ms: 1_744, p95Ms: 1_975 });
  nowMs = LATENCY_WINDOW_MS + 1;
  health.answered(7, false);
  expect(health.view(false).latency).toMatchObject({ windowSeconds: 300, requests: 1, p50Ms: 7, p95Ms: 7 });
});
