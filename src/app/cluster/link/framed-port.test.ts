import { once } from "node:events";
import { createServer } from "node:net";
import { serialize } from "node:v8";
import { expect, onTestFinished, test } from "vitest";
import { Channel } from "../../../lib/process/channel.ts";
import { method } from "../../../lib/process/method-table.ts";
import { machineClock } from "../../../lib/time/machine-clock.ts";
import { connectToNode } from "./connections.ts";
import { FramedPort } from "./framed-port.ts";

const framed = (body: Uint8Array): Buffer => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.byteLength);
  return Buffer.concat([length, body]);
};

/** Accepts connections with a channel of one method. Returns a new connection, and a promise of its end. */
async function connect(): Promise<{ socket: Awaited<ReturnType<typeof connectToNode>>; ended: Promise<unknown> }> {
  const server = createServer((accepted) => {
    accepted.on("error", () => {});
    new Channel(new FramedPort(accepted), { double: (n: number) => 2 * n }, {});
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("it does not listen");
  const socket = await connectToNode({ host: "127.0.0.1", port: address.port }, undefined, machineClock);
  onTestFinished(() => void socket.destroy());
  return { socket, ended: once(socket, "close") };
}

const NO_MESSAGES: readonly unknown[] = [
  null,
  undefined,
  0,
  "call",
  [],
  {},
  { kind: "hello" },
  { kind: "constructor" },
  { kind: ["call"], id: 1, method: "double", args: [1], cancellable: false },
  { kind: "call", id: "1", method: "double", args: [1], cancellable: false },
  { kind: "call", id: 1, method: null, args: [1], cancellable: false },
  { kind: "call", id: 1, method: "double", args: null, cancellable: false },
  { kind: "call", id: 1, method: "double" },
  { kind: "note", method: "double" },
  { kind: "note", method: "missing", args: [] },
  { kind: "cancel" },
  { kind: "answer", value: 1 },
  { kind: "error", id: 1 },
];

test.each(NO_MESSAGES.map((value) => [JSON.stringify(value) ?? "undefined", value] as const))(
  "%s ends the connection that has sent it, and no other",
  async (_, value) => {
    const { socket, ended } = await connect();
    socket.write(framed(serialize(value)));
    expect(await ended).toBeDefined();
  },
);

test("bytes that are no value end the connection", async () => {
  const { socket, ended } = await connect();
  socket.write(framed(Buffer.from("no value")));
  expect(await ended).toBeDefined();
});

test("an empty frame ends the connection, and a message in parts is read", async () => {
  const { socket, ended } = await connect();
  const table = { double: method<(n: number) => Promise<number>>("call") };
  const { remote } = new Channel(new FramedPort(socket), {}, table);
  expect(await remote.double(21)).toBe(42);
  socket.write(framed(new Uint8Array()));
  expect(await ended).toBeDefined();
});
