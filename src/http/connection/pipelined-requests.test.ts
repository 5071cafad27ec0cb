import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { goneSignal } from "./gone.ts";
import { PipelinedRequests } from "./pipelined-requests.ts";

let close = async (): Promise<void> => {};
afterEach(() => close());

/**
 * A server whose requests wait until the test ends them, the lists of started and refused requests, and a connection to
 * the server.
 */
async function serving() {
  const pipelined = new PipelinedRequests();
  const begun: { readonly path: string; readonly response: ServerResponse; readonly gone: AbortSignal; end(): void }[] =
    [];
  const refused: string[] = [];
  const server = createServer((request, response) => {
    const serve = (): Promise<void> =>
      new Promise((resolve) => {
        const end = (): void => {
          response.end(request.url);
          resolve();
        };
        begun.push({ path: request.url ?? "", response, gone: goneSignal(response), end });
      });
    void pipelined.begin(response, serve, async () => {
      refused.push(request.url ?? "");
      response.writeHead(503).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  close = async () => {
    socket.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  const query = (requests: number): void => {
    const lines = Array.from({ length: requests }, (_, n) => `GET /${n} HTTP/1.1\r\nHost: a\r\n\r\n`);
    socket.write(lines.join(""));
  };
  return { begun, refused, socket, ask: query };
}

test("of a connection 32 requests are at work at once, 1,000 wait for them, and more are refused", async () => {
  const { begun, refused, socket, ask } = await serving();
  let answers = "";
  socket.on("data", (part: Buffer) => {
    answers += part.toString("latin1");
  });
  ask(1_040);
  await expect.poll(() => refused).toHaveLength(8);
  expect(begun).toHaveLength(32);
  begun[5]?.end();
  await expect.poll(() => begun).toHaveLength(33);
  for (let n = 0; n < 1_032; n++) {
    await expect.poll(() => begun.length, { interval: 1 }).toBeGreaterThan(n);
    if (n !== 5) begun[n]?.end();
  }
  await expect.poll(() => answers.match(/HTTP\/1\.1 \d+/g)).toHaveLength(1_040);
  const paths = [...answers.matchAll(/\r\n\r\n(?:[0-9a-f]+\r\n)?\/(\d+)/g)].map(([, path]) => Number(path));
  expect(paths).toEqual(Array.from({ length: 1_032 }, (_, n) => n));
});

test("all requests of a closed connection are aborted, and none that waited is begun", async () => {
  const { begun, socket, ask } = await serving();
  ask(100);
  await expect.poll(() => begun).toHaveLength(32);
  const reported = Promise.all(begun.map(({ gone }) => once(gone, "abort")));
  socket.destroy();
  await reported;
  for (const { end } of begun) end();
  await new Promise((resolve) => setImmediate(resolve));
  expect(begun).toHaveLength(32);
});
