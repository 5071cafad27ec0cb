import { setMaxListeners } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { bodyOf, HttpClient, TooLate } from "./http-client.ts";

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function serve(listener: RequestListener, host = "127.0.0.1"): Promise<URL> {
  server = createServer(listener);
  await new Promise<void>((resolve) => server?.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return new URL(`http://${host.includes(":") ? `[${host}]` : host}:${port}/path?a=b%20c`);
}

const never = new AbortController().signal;
// More than ten listeners of one signal look like a leak to Node; here they are what is asked at once.
setMaxListeners(0, never);
const question = { method: "GET", headers: {}, untilMs: performance.now() + 600_000 } as const;
const text = async (answer: IncomingMessage): Promise<string> => String(await bodyOf(answer, 1000));

test("an address is asked as it is written, its user and password left out", async () => {
  const url = await serve(({ url: target, headers }, response) =>
    response.end(`${target} ${headers.host} ${headers.authorization}`),
  );
  const { host } = url;
  url.username = "u";
  url.password = "p";
  await using client = new HttpClient({ connections: 1 });
  expect(await client.ask(url, question, never, text)).toBe(`/path?a=b%20c ${host} undefined`);
});

test("IPv6 addresses are addresses", async () => {
  const url = await serve(({ headers }, response) => response.end(headers.host), "::1");
  await using client = new HttpClient({ connections: 1 });
  expect(await client.ask(url, question, never, text)).toBe(url.host);
});

test("connections are kept, and no more of them are opened than allowed", async () => {
  const sockets = new Set<unknown>();
  const url = await serve((request, response) => {
    sockets.add(request.socket);
    response.end("x");
  });
  await using client = new HttpClient({ connections: 3 });
  await Promise.all(Array.from({ length: 30 }, () => client.ask(url, question, never, text)));
  expect(sockets.size).toBe(3);
});

test("a kept connection that its server closes under a question is no failure of a GET, and one of a POST", async () => {
  const asked = new Map<unknown, number>();
  let closing = "second";
  const url = await serve((request, response) => {
    const times = (asked.get(request.socket) ?? 0) + 1;
    asked.set(request.socket, times);
    if (closing === "every" || times === 2) request.socket.destroy();
    else response.end(`${times}`);
  });
  await using client = new HttpClient({ connections: 3 });
  const all = () => Promise.all(Array.from({ length: 3 }, () => client.ask(url, question, never, text)));
  for (let round = 0; round < 3; round++) expect(await all()).toEqual(["1", "1", "1"]);
  await expect(client.ask(url, { ...question, method: "POST" }, never, text)).rejects.toMatchObject({
    code: "ECONNRESET",
  });
  closing = "every";
  await expect(client.ask(url, question, never, text)).rejects.toMatchObject({ code: "ECONNRESET" });
});

test("what comes too late, or is not wanted any more, ends with that reason, before and within its answer", async () => {
  let begun = (): void => {};
  const url = await serve((request, response) => {
    if (request.method === "POST") response.write("a part of it");
    begun();
  });
  await using client = new HttpClient({ connections: 1 });
  for (const method of ["GET", "POST"] as const) {
    await expect(
      client.ask(url, { ...question, method, untilMs: performance.now() + 20 }, never, text),
    ).rejects.toThrow(TooLate);
    const stop = new AbortController();
    begun = () => stop.abort(new Error("enough"));
    await expect(client.ask(url, { ...question, method }, stop.signal, text)).rejects.toThrow("enough");
    await expect(client.ask(url, { ...question, method }, stop.signal, text)).rejects.toThrow("enough");
    begun = () => {};
  }
});

test("an answer longer than is wanted is not read, whether it says so or not", async () => {
  const url = await serve((request, response) => {
    if (request.method === "POST") response.setHeader("content-length", 2000);
    response.write("x".repeat(1500));
    response.end("x".repeat(500));
  });
  await using client = new HttpClient({ connections: 1 });
  for (const method of ["GET", "POST"] as const)
    expect(await client.ask(url, { ...question, method }, never, (answer) => bodyOf(answer, 1999))).toBeUndefined();
  expect((await client.ask(url, question, never, (answer) => bodyOf(answer, 2000)))?.length).toBe(2000);
});

test("an answer that breaks off is an error with its code, not a shorter answer", async () => {
  const url = await serve((request, response) => {
    if (request.method === "GET") response.setHeader("content-length", 100);
    response.write("half", () => response.destroy());
  });
  await using client = new HttpClient({ connections: 1 });
  for (const method of ["GET", "POST"] as const)
    await expect(client.ask(url, { ...question, method }, never, text)).rejects.toMatchObject({ code: "ECONNRESET" });
});

test("a server that switches to another protocol has given no answer", async () => {
  const url = await serve((request) => {
    request.socket.end("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n");
  });
  await using client = new HttpClient({ connections: 1 });
  await expect(client.ask(url, question, never, text)).rejects.toMatchObject({ code: "ECONNRESET" });
});

test("a body is sent with its length; a closed client lets what it asks end, and asks no more", async () => {
  let answerNow = (): void => {};
  const arrived = new Promise<void>((resolve) => {
    void serve((request, response) => {
      request.setEncoding("utf8");
      request.on("data", (sent: string) => {
        answerNow = () => void response.end(`${request.headers["content-length"]} ${sent}`);
        resolve();
      });
    }).then((url) => {
      asked = client.ask(url, { ...question, method: "POST", body: "größer" }, never, text);
    });
  });
  const client = new HttpClient({ connections: 1 });
  let asked: Promise<string> | undefined;
  await arrived;
  const closed = client[Symbol.asyncDispose]();
  answerNow();
  expect(await asked).toBe("8 größer");
  await closed;
  const refused = client.ask(new URL("http://127.0.0.1:9/"), question, never, text);
  await expect(refused).rejects.toMatchObject({ code: "ECANCELED" });
});
