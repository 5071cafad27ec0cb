import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { send } from "./reply.ts";
import { cutSlowReaders } from "./slow-readers.ts";

const BOUND_MS = 300;
/** More bytes than the socket buffers of both sides hold. */
const LARGE = Buffer.alloc(32 * 1024 * 1024);

/** Returns a client that has sent its request and does not read. The handler is the only one of its server. */
async function clientOf(listener: RequestListener, boundMs = BOUND_MS): Promise<Socket> {
  const server = createServer(listener);
  cutSlowReaders(server, boundMs);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = connect(port, "127.0.0.1");
  client.pause();
  client.on("error", () => {});
  client.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  onTestFinished(async () => {
    client.destroy();
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  return client;
}

test("a reader of a large body that stops is cut", async () => {
  let cut: (() => void) | undefined;
  const isCut = new Promise<void>((resolve) => {
    cut = resolve;
  });
  const client = await clientOf((request, response) => {
    request.socket.once("close", () => cut?.());
    response.end(LARGE);
  });
  await isCut;
  let bytes = 0;
  client.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
  });
  client.resume();
  await once(client, "close");
  expect(bytes, "what the system had taken").toBeLessThan(LARGE.length);
});

test("a listener of a stream that stops is cut, and the stream ends", async () => {
  const parts = await new Promise<number>((resolve) => {
    async function* endless(): AsyncGenerator<string> {
      let count = 0;
      try {
        for (;;) {
          yield `: ${"x".repeat(65_536)}\n\n`;
          count++;
        }
      } finally {
        resolve(count);
      }
    }
    void clientOf((_, response) => {
      void send(response, { status: 200, body: endless() }, { head: false, draining: false });
    });
  });
  expect(parts).toBeGreaterThan(0);
});

test("a client that reads all the time, however slowly, gets all", async () => {
  const boundMs = 2_000;
  const client = await clientOf((_, response) => {
    response.end(LARGE);
  }, boundMs);
  let bytes = 0;
  const beganMs = performance.now();
  client.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    client.pause();
    setTimeout(() => client.resume(), 5);
  });
  client.resume();
  await once(client, "close");
  expect(bytes).toBeGreaterThan(LARGE.length);
  expect(performance.now() - beganMs, "longer than the bound").toBeGreaterThan(boundMs);
});

test("a handler that takes longer than the bound answers", async () => {
  const client = await clientOf((_, response) => {
    response.once("timeout", () => response.end("late"));
  });
  let text = "";
  client.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  client.resume();
  await once(client, "close");
  expect(text).toContain("late");
});
