import { expect, test } from "vitest";
import { serverEvents } from "./server-events.ts";

async function* chunks(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const STREAM =
  'retry: 2000\n\nevent: job\nid: a-1\ndata: {"title":"Länder: é"}\n\n: still here\nid: a-2\n\ndata:1\ndata: 2\n\nevent: cut\ndata: off\n';

test.each([1, 7, 1000])("events are read from chunks of %s bytes, and so are ids without an event", async (size) => {
  const events = [];
  for await (const event of serverEvents(chunks(STREAM, size))) events.push(event);
  expect(events).toEqual([
    { event: "job", id: "a-1", data: '{"title":"Länder: é"}' },
    { event: "message", id: "a-2", data: undefined },
    { event: "message", id: "a-2", data: "1\n2" },
  ]);
});
