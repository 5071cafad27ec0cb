import { expect, test } from "vitest";
import type { Message } from "../../../lib/process/message.ts";
import type { RendererEnd, RendererHost } from "./renderer-host.ts";

/**
 * A program that answers each call `alive` with its number and a note `early`, ends after a note `close`, and stops to
 * answer after a note `permit`.
 */
export const ANSWERING_PROGRAM = `
let hangs = false;
process.on("message", ({ kind, id, method }) => {
  if (method === "permit") hangs = true;
  if (method === "close") process.exit(0);
  if (kind !== "call" || hangs) return;
  process.send({ kind: "answer", id, value: id });
});
process.on("disconnect", () => process.exit(0));
`;

/** Starts a renderer of a host. Collects its messages, and its ends. */
function started(host: RendererHost) {
  const received: unknown[] = [];
  const ends: RendererEnd[] = [];
  let over = (_: RendererEnd): void => undefined;
  const ended = new Promise<RendererEnd>((resolve) => {
    over = resolve;
  });
  const { port, kill } = host.start(5, (end) => {
    ends.push(end);
    over(end);
  });
  port.on("message", (message) => void received.push(message));
  const call = (id: number): void =>
    port.postMessage({ kind: "call", id, method: "alive", args: [], cancellable: false });
  const note = (method: string): void => port.postMessage({ kind: "note", method, args: [] } satisfies Message);
  return { received, ends, ended, call, note, kill };
}

const answerTo = (id: number) => ({ kind: "answer", id, value: id });

/**
 * Tests the behaviour of every renderer host.
 * @param make returns a host whose renderers run `ANSWERING_PROGRAM`
 */
export function rendererHostConformance(make: () => RendererHost): void {
  test("calls reach a renderer that has just been started, and the answers come in their order", async () => {
    const { received, call, kill, ended } = started(make());
    for (let id = 1; id <= 5; id++) call(id);
    await expect.poll(() => received).toEqual([1, 2, 3, 4, 5].map(answerTo));
    kill();
    await ended;
  });

  test("a renderer that ends by itself has exited with its code, and this is reported once", async () => {
    const { received, ends, call, note, kill, ended } = started(make());
    call(1);
    await expect.poll(() => received).toEqual([answerTo(1)]);
    note("close");
    expect(await ended).toEqual({ kind: "exited", code: 0, signal: null });
    kill();
    call(2);
    await new Promise((resolve) => setImmediate(resolve));
    expect(ends).toHaveLength(1);
  });

  test("a renderer that hangs ends when it is killed, and no other renderer of the host does", async () => {
    const host = make();
    const [hanging, other] = [started(host), started(host)];
    hanging.call(1);
    await expect.poll(() => hanging.received).toHaveLength(1);
    hanging.note("permit");
    hanging.call(2);
    hanging.kill();
    hanging.kill();
    expect(await hanging.ended).toEqual({ kind: "exited", code: null, signal: "SIGKILL" });
    expect(hanging.received).toHaveLength(1);
    other.call(7);
    await expect.poll(() => other.received).toEqual([answerTo(7)]);
    expect([hanging.ends.length, other.ends.length]).toEqual([1, 0]);
    other.kill();
    await other.ended;
  });

  test("changed stores do not disturb the renderers", async () => {
    const host = make();
    const { received, call, kill, ended } = started(host);
    host.configureStores([]);
    call(1);
    await expect.poll(() => received).toEqual([answerTo(1)]);
    kill();
    await ended;
  });
}
