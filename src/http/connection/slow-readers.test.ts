import { EventEmitter, once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { machineClock } from "../../lib/time/machine-clock.ts";
import { EVENT_STREAM_TYPE, send } from "../reply.ts";
import { endInParts, SlowReaders } from "./slow-readers.ts";

/** More bytes than the socket buffers of both sides can hold. */
const LARGE = Buffer.alloc(32 * 1024 * 1024);
const MINUTE_MS = 60_000;

/** Returns a client that has sent its request and does not read the response. */
async function clientOf(listener: RequestListener): Promise<{ readonly client: Socket; readonly slow: SlowReaders }> {
  const server = createServer(listener);
  const slow = new SlowReaders(server);
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
  return { client, slow };
}

/** Sweeps with a clock that advances by a minute each time, until the condition holds. */
async function sweepUntil(slow: SlowReaders, isOver: () => boolean): Promise<number> {
  let nowMs = 0;
  while (!isOver()) {
    slow.sweep(nowMs);
    nowMs += MINUTE_MS;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return nowMs;
}

test("a reader of a large body that stops is cut", async () => {
  let isCut = false;
  const { client, slow } = await clientOf((request, response) => {
    request.socket.once("close", () => {
      isCut = true;
    });
    endInParts(response, LARGE);
  });
  await sweepUntil(slow, () => isCut);
  let bytes = 0;
  client.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
  });
  client.resume();
  await once(client, "close");
  expect(bytes, "what the system had taken").toBeLessThan(LARGE.length);
});

test("a listener of a stream that stops is cut, and the stream ends", async () => {
  let count = 0;
  let isOver = false;
  async function* endless(): AsyncGenerator<string> {
    try {
      for (;;) {
        yield `: ${"x".repeat(65_536)}\n\n`;
        count++;
      }
    } finally {
      isOver = true;
    }
  }
  const { slow } = await clientOf((_, response) => {
    void send(
      response,
      { status: 200, type: EVENT_STREAM_TYPE, body: endless() },
      { head: false, draining: false, clock: machineClock },
    );
  });
  await sweepUntil(slow, () => isOver);
  expect(count).toBeGreaterThan(0);
});

test("a handler that takes longer than any limit answers", async () => {
  let answer: (() => void) | undefined;
  const { client, slow } = await clientOf((_, response) => {
    answer = () => response.end("late");
  });
  await sweepUntil(slow, () => answer !== undefined);
  for (let minute = 0; minute < 60; minute++) slow.sweep(minute * MINUTE_MS);
  answer?.();
  let text = "";
  client.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  client.resume();
  await once(client, "close");
  expect(text).toContain("late");
});

/** A connection with unsent bytes. The test determines how many of them the system accepts. */
function waitingConnection() {
  const server = new EventEmitter();
  const slow = new SlowReaders(server as never);
  const socket = Object.assign(new EventEmitter(), {
    bytesWritten: LARGE.length,
    writableLength: LARGE.length,
    isCut: false,
    resetAndDestroy: () => {
      socket.isCut = true;
      socket.emit("close");
    },
  });
  server.emit("connection", socket);
  let nowMs = 0;
  slow.sweep(nowMs);
  return {
    /**
     * Advances the time with a sweep every five seconds. The client reads `bytes` in each interval of `everySeconds`.
     */
    read(bytes: number, everySeconds: number, seconds: number): number {
      for (let second = 5; second <= seconds; second += 5) {
        nowMs += 5_000;
        if (second % everySeconds === 0) socket.writableLength -= bytes;
        slow.sweep(nowMs);
        if (socket.isCut) return second;
      }
      return Number.POSITIVE_INFINITY;
    },
  };
}

test.each([
  ["nothing", 0, 5, 60],
  ["40 bytes a second", 200, 5, 65],
  ["half of the lowest rate", 2_500, 5, 120],
])("a client that reads %s is cut", (_, bytes, everySeconds, after) => {
  expect(waitingConnection().read(bytes, everySeconds, 3_600)).toBe(after);
});

test.each([
  ["the lowest rate", 5_000, 5],
  ["a part each minute", 60_000, 60],
  ["a megabyte every four minutes, from behind a large buffer", 1_000_000, 240],
])("a client that reads %s gets all", (_, bytes, everySeconds) => {
  const connection = waitingConnection();
  if (everySeconds > 60) connection.read(bytes, 5, 5);
  expect(connection.read(bytes, everySeconds, 3_600)).toBe(Number.POSITIVE_INFINITY);
});

test("a client that stops after it has read fast is cut after five minutes", () => {
  const connection = waitingConnection();
  connection.read(4_000_000, 5, 30);
  expect(connection.read(0, 5, 3_600)).toBe(300);
});

test("a body in parts arrives whole", async () => {
  const body = Buffer.from(Array.from({ length: 200_001 }, (_, n) => n % 251));
  const { client } = await clientOf((_, response) => {
    response.writeHead(200, { "Content-Length": String(body.length) });
    endInParts(response, body);
  });
  const chunks: Buffer[] = [];
  client.on("data", (chunk: Buffer) => chunks.push(chunk));
  client.resume();
  await once(client, "close");
  expect(Buffer.concat(chunks).subarray(-body.length).equals(body)).toBe(true);
});
