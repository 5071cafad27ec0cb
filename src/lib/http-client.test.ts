import { setMaxListeners } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { HttpClient, type HttpQuestion, TooLate } from "./http-client.ts";

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  vi.unstubAllEnvs();
});

async function serve(listener: RequestListener, host = "127.0.0.1"): Promise<URL> {
  server = createServer(listener);
  await new Promise<void>((resolve) => server?.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return new URL(`http://${host.includes(":") ? `[${host}]` : host}:${port}/path?a=b%20c`);
}

const never = new AbortController().signal;
// Node warns of a leak at more than ten listeners of one signal. Here they are concurrent requests.
setMaxListeners(0, never);
const question = { method: "GET", headers: {}, untilMs: performance.now() + 600_000, limit: 1000 } as const;
const text = async (client: HttpClient, url: URL, asked: HttpQuestion, signal: AbortSignal): Promise<string> =>
  String((await client.ask(url, asked, signal)).body);

test("an address is asked as it is written, its user and password left out", async () => {
  const url = await serve(({ url: target, headers }, response) =>
    response.end(`${target} ${headers.host} ${headers.authorization}`),
  );
  const { host } = url;
  url.username = "u";
  url.password = "p";
  await using client = new HttpClient({ connections: 1 });
  expect(await text(client, url, question, never)).toBe(`/path?a=b%20c ${host} undefined`);
});

test("IPv6 addresses are addresses", async () => {
  const url = await serve(({ headers }, response) => response.end(headers.host), "::1");
  await using client = new HttpClient({ connections: 1 });
  expect(await text(client, url, question, never)).toBe(url.host);
});

test("connections are kept, and no more of them are opened than allowed", async () => {
  const sockets = new Set<unknown>();
  const url = await serve((request, response) => {
    sockets.add(request.socket);
    response.end("x");
  });
  await using client = new HttpClient({ connections: 3 });
  await Promise.all(Array.from({ length: 30 }, () => text(client, url, question, never)));
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
  const all = () => Promise.all(Array.from({ length: 3 }, () => text(client, url, question, never)));
  for (let round = 0; round < 3; round++) expect(await all()).toEqual(["1", "1", "1"]);
  await expect(text(client, url, { ...question, method: "POST" }, never)).rejects.toMatchObject({
    code: "ECONNRESET",
  });
  closing = "every";
  await expect(text(client, url, question, never)).rejects.toMatchObject({ code: "ECONNRESET" });
});

test("what comes too late, or is not wanted any more, ends with that reason, before and within its answer", async () => {
  let begun = (): void => {};
  const url = await serve((request, response) => {
    if (request.method === "POST") response.write("a part of it");
    begun();
  });
  await using client = new HttpClient({ connections: 1 });
  for (const method of ["GET", "POST"] as const) {
    await expect(text(client, url, { ...question, method, untilMs: performance.now() + 20 }, never)).rejects.toThrow(
      TooLate,
    );
    const stop = new AbortController();
    begun = () => stop.abort(new Error("enough"));
    await expect(text(client, url, { ...question, method }, stop.signal)).rejects.toThrow("enough");
    await expect(text(client, url, { ...question, method }, stop.signal)).rejects.toThrow("enough");
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
    expect((await client.ask(url, { ...question, method, limit: 1999 }, never)).body).toBeUndefined();
  expect((await client.ask(url, { ...question, limit: 2000 }, never)).body?.length).toBe(2000);
});

test("an answer that breaks off is an error with its code, not a shorter answer", async () => {
  const url = await serve((request, response) => {
    if (request.method === "GET") response.setHeader("content-length", 100);
    response.write("half", () => response.destroy());
  });
  await using client = new HttpClient({ connections: 1 });
  for (const method of ["GET", "POST"] as const)
    await expect(text(client, url, { ...question, method }, never)).rejects.toMatchObject({ code: "ECONNRESET" });
});

test("an answer without a length ends with its connection", async () => {
  const url = await serve(({ socket }) => {
    socket.write("HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nup to ");
    socket.end("its end");
  });
  await using client = new HttpClient({ connections: 1 });
  for (let n = 0; n < 3; n++) expect(await text(client, url, question, never)).toBe("up to its end");
});

test("a server that switches to another protocol has given no answer", async () => {
  const url = await serve((request) => {
    request.socket.end("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n");
  });
  await using client = new HttpClient({ connections: 1 });
  await expect(text(client, url, question, never)).rejects.toMatchObject({ code: "EPROTO" });
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
      asked = text(client, url, { ...question, method: "POST", body: "größer" }, never);
    });
  });
  const client = new HttpClient({ connections: 1 });
  let asked: Promise<string> | undefined;
  await arrived;
  const closed = client[Symbol.asyncDispose]();
  answerNow();
  expect(await asked).toBe("8 größer");
  await closed;
  const refused = text(client, new URL("http://127.0.0.1:9/"), question, never);
  await expect(refused).rejects.toMatchObject({ code: "ECANCELED" });
});

/** A certificate for this test only, for localhost and 127.0.0.1, valid until 2126. */
const SELF_SIGNED = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgao/hY8Cbckl0zXqE
4VYgUneZrO55tj7txlgz4JnHx4GhRANCAAQDq1UF0sWDAENbmabr9b0MM+V3hQjQ
vrQM6D3DA11ge/NYACnHxCVsMlZDRHQukm+IjnBiHRjsL/WnJCnIJEKB
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBnDCCAUGgAwIBAgIUVnewHvhOaYAuHmJrVClwtWnSHAAwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMzAwMzAwMloYDzIxMjYxMDMw
MDAzMDAyWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQDq1UF0sWDAENbmabr9b0MM+V3hQjQvrQM6D3DA11ge/NYACnHxCVs
MlZDRHQukm+IjnBiHRjsL/WnJCnIJEKBo28wbTAdBgNVHQ4EFgQUAmTuI2QsdEMf
ZdJ1QYMe4/nIW1YwHwYDVR0jBBgwFoAUAmTuI2QsdEMfZdJ1QYMe4/nIW1YwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSQAwRgIhAIWLhtK0r3ku79c1JaIrdrzV9qyD9+gEzT9FbtSFPkdGAiEA
qWUl4I6rSq+o/6dvIukPXujt0McOWfsPFA3+mhN1Cu8=
-----END CERTIFICATE-----`,
};

test("https is for servers whose certificate is trusted; their connections are kept too", async () => {
  const sockets = new Set<unknown>();
  const secure = createSecureServer(SELF_SIGNED, (request, response) => {
    sockets.add(request.socket);
    response.end(`${request.url} ${request.headers.host}`);
  });
  server = secure;
  await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", resolve));
  const { port } = secure.address() as AddressInfo;
  await using client = new HttpClient({ connections: 1 });
  for (const host of ["127.0.0.1", "localhost"]) {
    const url = new URL(`https://${host}:${port}/path?a=b`);
    await expect(text(client, url, question, never)).rejects.toMatchObject({ code: "DEPTH_ZERO_SELF_SIGNED_CERT" });
  }
  // Node reads this setting when it makes a connection. It lets the test trust its own certificate.
  vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
  sockets.clear();
  for (let n = 0; n < 3; n++)
    for (const host of ["127.0.0.1", "localhost"]) {
      const url = new URL(`https://${host}:${port}/path?a=b`);
      expect(await text(client, url, question, never)).toBe(`/path?a=b ${host}:${port}`);
    }
  expect(sockets.size).toBe(2);
});
