import { expect, test } from "vitest";
import { currentTrace, traceContextOf, traceIdOf, withTrace } from "./trace-context.ts";

const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

test("the example of the standard is read", () => {
  const trace = traceContextOf({ traceparent: parent, tracestate: "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE" });
  expect(trace).toEqual({ traceparent: parent, tracestate: "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE" });
  expect(trace && traceIdOf(trace)).toBe("4bf92f3577b34da6a3ce929d0e0e4736");
});

test.each([
  undefined,
  "",
  "00",
  parent.toUpperCase(),
  `${parent}-00`,
  parent.replace("00-", "ff-"),
  `00-${"0".repeat(32)}-00f067aa0ba902b7-01`,
  `00-4bf92f3577b34da6a3ce929d0e0e4736-${"0".repeat(16)}-01`,
  `${parent}\r\nX-Evil: 1`,
])("%j is no trace", (traceparent) => {
  expect(traceContextOf({ traceparent })).toBeUndefined();
});

test.each(["a".repeat(513), "ä=1", "a=1\nb=2"])("a state that cannot be passed on is left out", (tracestate) => {
  expect(traceContextOf({ traceparent: parent, tracestate })).toEqual({ traceparent: parent });
});

test("work that is started inside belongs to the trace, work that is started outside does not", async () => {
  const inside = await withTrace({ traceparent: parent }, async () => {
    await Promise.resolve();
    return currentTrace();
  });
  expect(inside).toEqual({ traceparent: parent });
  expect(currentTrace()).toBeUndefined();
  expect(withTrace(undefined, currentTrace)).toBeUndefined();
});
