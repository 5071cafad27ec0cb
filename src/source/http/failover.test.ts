import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type FailureClass, SourceError } from "../source.ts";
import { Failover } from "./failover.ts";

/** Returns a failover over servers whose failures the test sets, with a clock that the test moves. */
function scene(names: readonly string[], report?: (url: string, isUp: boolean) => void) {
  const failing = new Map<string, FailureClass>();
  const requested: string[] = [];
  const clock = { ms: 0 };
  const failover = new Failover(names, () => clock.ms, report);
  const render = async (): Promise<string> => {
    try {
      return await failover.run(async (url) => {
        requested.push(url);
        const failure = failing.get(url);
        if (failure !== undefined) throw new SourceError(failure, `${url} ${failure}`);
        return url;
      });
    } catch (error) {
      if (error instanceof SourceError) return error.failure;
      throw error;
    }
  };
  /** Renders once. Returns the addresses that the render requested, and its outcome. */
  const look = async (): Promise<[readonly string[], string]> => {
    requested.length = 0;
    const outcome = await render();
    return [[...requested], outcome];
  };
  return { failing, clock, failover, render, look };
}

test("an address that goes down is reported once, and once when it is back", async () => {
  const reported: [string, boolean][] = [];
  const { failing, clock, render } = scene(["a", "b"], (url, isUp) => reported.push([url, isUp]));
  failing.set("a", "refused");
  await Promise.all([render(), render()]);
  clock.ms = 1000;
  await render();
  expect(reported).toEqual([["a", false]]);
  failing.clear();
  clock.ms = 10_000;
  await render();
  await render();
  expect(reported).toEqual([
    ["a", false],
    ["a", true],
  ]);
});

test("all renders go to the first address while it is well", async () => {
  const { look } = scene(["a", "b"]);
  for (let i = 0; i < 3; i++) expect(await look()).toEqual([["a"], "a"]);
});

test.each(["refused", "timeout", "reset", "server_error", "busy", "truncated"] as const)(
  "%s: the same render is made by the next address, and the first is left alone for a second",
  async (failure) => {
    const { failing, clock, look } = scene(["a", "b"]);
    failing.set("a", failure);
    expect(await look()).toEqual([["a", "b"], "b"]);
    clock.ms = 999;
    expect(await look()).toEqual([["b"], "b"]);
    failing.clear();
    clock.ms = 1000;
    expect(await look()).toEqual([["a"], "a"]);
  },
);

test.each(["http_status", "exception", "empty", "wrong_type", "too_large", "cancelled"] as const)(
  "%s is no outage: no other address is asked, and none is paused",
  async (failure) => {
    const { failing, look } = scene(["a", "b"]);
    failing.set("a", failure);
    expect(await look()).toEqual([["a"], failure]);
    expect(await look()).toEqual([["a"], failure]);
  },
);

test("the pause doubles from 1 to 60 seconds, and starts again at 1 after an answer", async () => {
  const { failing, clock, look } = scene(["a", "b"]);
  failing.set("a", "refused");
  for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
    expect(await look(), `${seconds}`).toEqual([["a", "b"], "b"]);
    clock.ms += seconds * 1000 - 1;
    expect(await look(), `${seconds}`).toEqual([["b"], "b"]);
    clock.ms += 1;
  }
  failing.clear();
  expect(await look()).toEqual([["a"], "a"]);
  failing.set("a", "refused");
  await look();
  clock.ms += 1000;
  expect(await look()).toEqual([["a", "b"], "b"]);
});

test("an upstream that says when it will be back is left alone until then, at most a minute", async () => {
  const clock = { ms: 0 };
  const failover = new Failover(["a", "b"], () => clock.ms);
  const requested: string[] = [];
  const render = (retryAfterMs: number) =>
    failover.run(async (url) => {
      requested.push(url);
      if (url === "a") throw new SourceError("busy", "later", { retryAfterMs });
      return url;
    });
  await render(20_000);
  clock.ms = 19_999;
  await render(20_000);
  clock.ms = 20_000;
  await render(3_600_000);
  clock.ms = 80_000;
  await render(0);
  expect(requested).toEqual(["a", "b", "b", "a", "b", "a", "b"]);
});

test("when all are in a pause one is tried: that whose pause ends first", async () => {
  const { failing, clock, look } = scene(["a", "b", "c"]);
  for (const name of ["a", "b", "c"]) failing.set(name, "refused");
  expect(await look()).toEqual([["a", "b", "c"], "refused"]);
  clock.ms = 1000;
  failing.set("a", "timeout");
  // All three are due; now a pauses until 3000, and so on.
  expect(await look()).toEqual([["a", "b", "c"], "refused"]);
  failing.delete("b");
  clock.ms = 1001;
  expect(await look()).toEqual([["a"], "timeout"]);
  // a's pause is now the longest.
  expect(await look()).toEqual([["b"], "b"]);
});

test("an address in a pause is still requested when the healthy addresses have just failed", async () => {
  const { failing, clock, look } = scene(["a", "b"]);
  failing.set("a", "refused");
  await look();
  failing.clear();
  failing.set("b", "refused");
  clock.ms = 10;
  expect(await look()).toEqual([["b", "a"], "a"]);
});

test("a single address is requested every time, even after failures", async () => {
  const { failing, look } = scene(["a"]);
  failing.set("a", "refused");
  for (let i = 0; i < 5; i++) expect(await look()).toEqual([["a"], "refused"]);
});

describe("renders that run together", () => {
  test("fail as one outage, not as many doublings", async () => {
    const { failing, clock, render, look } = scene(["a", "b"]);
    failing.set("a", "refused");
    await Promise.all(Array.from({ length: 8 }, render));
    clock.ms = 1000;
    failing.clear();
    expect(await look()).toEqual([["a"], "a"]);
  });

  test("leave it to one of them to find out whether an address is back", async () => {
    const { failing, clock, failover, look } = scene(["a", "b"]);
    failing.set("a", "timeout");
    await look();
    failing.clear();
    clock.ms = 1000;
    let answer = (): void => undefined;
    const hanging = failover.run(
      (url) =>
        new Promise<string>((resolve) => {
          answer = () => resolve(url);
        }),
    );
    expect(await look()).toEqual([["b"], "b"]);
    answer();
    expect(await hanging).toBe("a");
    expect(await look()).toEqual([["a"], "a"]);
  });

  test("a probe that is cancelled leaves the address to the next", async () => {
    const { failing, clock, look } = scene(["a", "b"]);
    failing.set("a", "refused");
    await look();
    clock.ms = 1000;
    failing.set("a", "cancelled");
    expect(await look()).toEqual([["a"], "cancelled"]);
    failing.clear();
    expect(await look()).toEqual([["a"], "a"]);
  });
});

test("a render requests no address twice, and fails only when its last address has failed", async () => {
  const names = ["a", "b", "c"];
  const step = fc.record({ ms: fc.integer({ min: 0, max: 70_000 }), up: fc.subarray(names) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const { failing, clock, look } = scene(names);
      for (const { ms, up } of steps) {
        clock.ms += ms;
        failing.clear();
        for (const name of names) if (!up.includes(name)) failing.set(name, "refused");
        const [asked, outcome] = await look();
        expect(new Set(asked).size).toBe(asked.length);
        expect(outcome).toBe(up.includes(asked.at(-1) ?? "") ? asked.at(-1) : "refused");
        for (const name of asked.slice(0, -1)) expect(up).not.toContain(name);
      }
    }),
  );
});
