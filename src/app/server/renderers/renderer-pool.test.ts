import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Message } from "../../../lib/process/message.ts";
import { machineClock } from "../../../lib/time/machine-clock.ts";
import type { RenderOrder } from "../../../render/render-order.ts";
import type { RenderClient } from "../../../render/renderers.ts";
import type { RendererEnd, RendererHost } from "./renderer-host.ts";
import { RendererPool } from "./renderer-pool.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A machine whose renderers respond when the test permits it. */
class Machine implements RendererHost {
  readonly most = 2;
  readonly node: string;
  readonly calls: { readonly method: string; answer(value: unknown): void }[] = [];
  readonly ends: ((end: RendererEnd) => void)[] = [];

  constructor(node: string) {
    this.node = node;
  }

  start(_nice: number, ended: (end: RendererEnd) => void) {
    let receive: (message: Message) => void = () => undefined;
    this.ends.push(ended);
    return {
      port: {
        postMessage: (message: Message) => {
          if (message.kind === "note" && message.method === "close") ended({ kind: "exited", code: 0, signal: null });
          if (message.kind !== "call") return;
          const { id, method } = message;
          if (method === "alive") {
            receive({ kind: "answer", id, value: undefined });
            return;
          }
          this.calls.push({ method, answer: (value) => receive({ kind: "answer", id, value }) });
        },
        on: (_: "message", listener: (message: Message) => void) => {
          receive = listener;
        },
      },
      pid: undefined,
      kill: () => undefined,
    };
  }

  configureStores(): void {}
}

const order: RenderOrder = {
  tileSet: { layer: "a", gridSet: "EPSG:900913", format: "image/png", parametersId: "" },
  parameters: {},
  rect: { z: 3, minX: 0, minY: 0, maxX: 0, maxY: 0 },
  wanted: null,
  near: "b",
};
const client: RenderClient = {
  who: "user",
  missed: undefined,
  openCells: undefined,
  report: () => undefined,
  whenUserJoins: () => undefined,
};

function poolOf(local: Machine) {
  const events: string[] = [];
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const pool = new RendererPool({
    local,
    layers: [],
    usersActive: () => false,
    atRest: () => undefined,
    lostWriter: (ms) => events.push(`may store for ${ms} ms`),
    reserve: async () => true,
    clock: machineClock,
    log,
  });
  const render = (who: RenderClient["who"] = "user") => {
    const rendered = pool.renderMetatile(order, 1, { ...client, who }, new AbortController().signal);
    void rendered.then(({ kind }) => events.push(kind));
    return rendered;
  };
  return { pool, render, events };
}

test("a change of the generation waits until a renderer that cannot be reached may store nothing more", async () => {
  const [a, b] = [new Machine("a"), new Machine("b")];
  const { pool, render, events } = poolOf(a);
  pool.add(b);
  const rendered = render();
  expect([a.calls.length, b.calls.length]).toEqual([0, 1]);
  let raised = false;
  const raising = pool.raiseGeneration("a", 2).then(() => {
    raised = true;
  });
  b.ends[0]?.({ kind: "unreachable", mayStoreMs: 5_000 });
  expect(await rendered).toEqual({ kind: "lost" });
  expect(events).toEqual(["may store for 5000 ms", "lost"]);
  await vi.advanceTimersByTimeAsync(4_990);
  expect(raised).toBe(false);
  await vi.advanceTimersByTimeAsync(20);
  await raising;
  expect(raised).toBe(true);
});

test("a machine that leaves finishes its renders, and gets no others", async () => {
  const [a, b] = [new Machine("a"), new Machine("b")];
  const { pool, render, events } = poolOf(a);
  pool.add(b);
  const first = render();
  let hasLeft = false;
  const leaving = pool.remove(b).then(() => {
    hasLeft = true;
  });
  void render();
  expect([a.calls.length, b.calls.length]).toEqual([1, 1]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(hasLeft).toBe(false);
  b.calls[0]?.answer({ kind: "rendered", written: [], stale: false, storeFailure: undefined, upstreamMs: 1 });
  await first;
  await leaving;
  expect(events).toEqual(["rendered"]);
  expect(pool.workOf(b)).toEqual({ renders: 0, metatiles: 1 });
});

test("a job of two seconds has one renderer for up to four renders at once, and a longer one has more", async () => {
  const a = new Machine("a");
  const { render } = poolOf(a);
  for (let renders = 0; renders < 4; renders++) {
    void render("job");
    await vi.advanceTimersByTimeAsync(480);
  }
  expect(a.ends).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(100);
  void render("job");
  expect(a.ends).toHaveLength(2);
  // A user waits for each render.
  void render();
  await vi.advanceTimersByTimeAsync(10);
  void render();
  expect(a.ends).toHaveLength(4);
});

test("the fifth render at once starts another renderer for jobs", async () => {
  const a = new Machine("a");
  const { render } = poolOf(a);
  for (let renders = 0; renders < 5; renders++) {
    void render("job");
    await vi.advanceTimersByTimeAsync(10);
  }
  expect(a.ends).toHaveLength(2);
});
