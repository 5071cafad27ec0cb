import { setMaxListeners } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { machineClock } from "../time/machine-clock.ts";
import { HttpClient, type HttpQuestion } from "./http-client.ts";
import { BrokenAnswer, MalformedAnswer, TooLate } from "./http-failure.ts";

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
const clientOf = (connections: number): HttpClient => new HttpClient({ connections, connectTimeoutMs: 10_000 });
const question = {
  method: "GET",
  headers: {},
  untilMs: machineClock.monotonicNow() + 600_000,
  limit: 1000,
  server: "configured",
} as const;
const text = async (client: HttpClient, url: URL, requested: HttpQuestion, signal: AbortSignal): Promise<string> =>
  String((await client.request(url, requested, signal)).body);

test("an address is requested as it is written, without its user and password", async () => {
  const url = await serve(({ url: target, headers }, response) =>
    response.end(`${target} ${headers.host} ${headers.authorization}`),
  );
  const { host } = url;
  url.username = "u";
  url.password = "p";
  await using client = clientOf(1);
  expect(await text(client, url, question, never)).toBe(`/path?a=b%20c ${host} undefined`);
});

test("IPv6 addresses are addresses", async () => {
  const url = await serve(({ headers }, response) => response.end(headers.host), "::1");
  await using client = clientOf(1);
  expect(await text(client, url, question, never)).toBe(url.host);
});

test("connections are reused, and no more are opened than allowed", async () => {
  const sockets = new Set<unknown>();
  const url = await serve((request, response) => {
    sockets.add(request.socket);
    response.end("x");
  });
  await using client = clientOf(3);
  await Promise.all(Array.from({ length: 30 }, () => text(client, url, question, never)));
  expect(sockets.size).toBe(3);
});

test("a reused connection that the server closes during a request is no failure of a GET, but of a POST", async () => {
  const requested = new Map<unknown, number>();
  let closing = "second";
  const url = await serve((request, response) => {
    const times = (requested.get(request.socket) ?? 0) + 1;
    requested.set(request.socket, times);
    if (closing === "every" || times === 2) request.socket.destroy();
    else response.end(`${times}`);
  });
  await using client = clientOf(3);
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
  await using client = clientOf(1);
  for (const method of ["GET", "POST"] as const) {
    await expect(
      text(client, url, { ...question, method, untilMs: machineClock.monotonicNow() + 20 }, never),
    ).rejects.toThrow(TooLate);
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
  await using client = clientOf(1);
  for (const method of ["GET", "POST"] as const)
    expect((await client.request(url, { ...question, method, limit: 1999 }, never)).body).toBeUndefined();
  expect((await client.request(url, { ...question, limit: 2000 }, never)).body?.length).toBe(2000);
});

test("an answer that breaks off is an error with its code, not a shorter answer", async () => {
  const url = await serve((request, response) => {
    if (request.method === "GET") response.setHeader("content-length", 100);
    response.write("half", () => response.destroy());
  });
  await using client = clientOf(1);
  for (const method of ["GET", "POST"] as const)
    await expect(text(client, url, { ...question, method }, never)).rejects.toMatchObject({ code: "ECONNRESET" });
});

test("an answer without a length ends with its connection", async () => {
  const url = await serve(({ socket }) => {
    socket.write("HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nup to ");
    socket.end("its end");
  });
  await using client = clientOf(1);
  for (let n = 0; n < 3; n++) expect(await text(client, url, question, never)).toBe("up to its end");
});

test("a server that switches to another protocol has given no answer", async () => {
  const url = await serve((request) => {
    request.socket.end("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n");
  });
  await using client = clientOf(1);
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
      requested = text(client, url, { ...question, method: "POST", body: "größer" }, never);
    });
  });
  const client = clientOf(1);
  let requested: Promise<string> | undefined;
  await arrived;
  const closed = client[Symbol.asyncDispose]();
  answerNow();
  expect(await requested).toBe("8 größer");
  await closed;
  const refused = text(client, new URL("http://127.0.0.1:9/"), question, never);
  await expect(refused).rejects.toMatchObject({ code: "ECANCELED" });
});

const OK = "HTTP/1.1 200 OK\r\n";
const LONG = "x".repeat(70_000);
/** Answers that the server ends by closing the connection, and the expected result of each. */
const answers: readonly (readonly [what: string, bytes: string, read: string])[] = [
  ["a length", `${OK}Content-Length: 5\r\n\r\nhello`, "200 hello"],
  ["a length of nothing", `${OK}content-length:0\r\n\r\n`, "200 "],
  ["less than its length", `${OK}Content-Length: 6\r\n\r\nhello`, "BrokenAnswer 200 ECONNRESET"],
  ["chunks", `${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1;a=b\r\n!\r\n0\r\n\r\n`, "200 hello!"],
  ["chunks without their end", `${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`, "BrokenAnswer 200 ECONNRESET"],
  [
    "chunks without their end, on a connection that was to be closed",
    `${OK}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`,
    "BrokenAnswer 200 ECONNRESET",
  ],
  ["no length", `${OK}\r\nhello`, "200 hello"],
  ["HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", "200 hello"],
  ["no words with the status", "HTTP/1.1 404\r\nContent-Length: 2\r\n\r\nno", "404 no"],
  ["no content", "HTTP/1.1 204 No Content\r\n\r\n", "204 "],
  [
    "an interim answer before it",
    `HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${OK}Content-Length: 2\r\n\r\nok`,
    "200 ok",
  ],
  [
    "several interim answers before it, a 100 that nobody asked for among them",
    `HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\nA: b\r\n\r\nHTTP/1.0 100\r\n\r\n${OK}Content-Length: 2\r\n\r\nok`,
    "200 ok",
  ],
  ["nothing after a 100", "HTTP/1.1 100 Continue\r\n\r\n", "BrokenAnswer undefined ECONNRESET"],
  [
    "a 100 in its body",
    `${OK}Content-Length: 25\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n`,
    "200 HTTP/1.1 100 Continue\r\n\r\n",
  ],
  ["half a head", `${OK}Content-Le`, "BrokenAnswer undefined ECONNRESET"],
  ["nothing", "", "BrokenAnswer undefined ECONNRESET"],
  ["another protocol", "SSH-2.0-OpenSSH_9.6\r\n\r\n", "MalformedAnswer"],
  ["a header with a blank in its name", `${OK}Content Length: 5\r\n\r\n`, "MalformedAnswer"],
  ["two lengths", `${OK}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`, "MalformedAnswer"],
  ["chunks and a length", `${OK}Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n`, "MalformedAnswer"],
  ["a chunk without a size", `${OK}Transfer-Encoding: chunked\r\n\r\nhello\r\n`, "MalformedAnswer"],
  ["headers that are too long", `${OK}A: ${LONG}\r\n\r\n`, "MalformedAnswer"],
];

test.each(answers)(
  "an answer with %s is read as it should be, in one piece and byte by byte",
  async (_, bytes, expected) => {
    const all = Buffer.from(bytes, "latin1");
    for (const pieces of [
      [all],
      Array.from(all.subarray(0, 500), (byte) => Buffer.from([byte])).concat(all.subarray(500)),
    ]) {
      const raw = createSocketServer((socket) => {
        socket.on("error", () => socket.destroy());
        socket.once("data", () => {
          const next = (): void => {
            const piece = pieces.shift();
            if (piece === undefined) socket.end();
            else socket.write(piece, next);
          };
          next();
        });
      });
      await new Promise<void>((resolve) => raw.listen(0, "127.0.0.1", resolve));
      await using client = clientOf(1);
      const url = new URL(`http://127.0.0.1:${(raw.address() as AddressInfo).port}/`);
      const read = await client.request(url, question, never).then(
        ({ status, body }) => `${status} ${body}`,
        (error: unknown) => {
          if (error instanceof MalformedAnswer) return "MalformedAnswer";
          return error instanceof BrokenAnswer ? `BrokenAnswer ${error.status} ${error.code}` : `${error}`;
        },
      );
      raw.close();
      expect(read).toBe(expected);
    }
  },
);

test("each answer of a persistent connection may begin with a 100", async () => {
  const sockets = new Set<unknown>();
  const url = await serve((request, response) => {
    sockets.add(request.socket);
    response.writeContinue();
    response.end("x");
  });
  await using client = clientOf(1);
  for (let n = 0; n < 3; n++) expect(await text(client, url, question, never)).toBe("x");
  expect(sockets.size).toBe(1);
});

test("no more connections are opened than allowed when each one is closed after its answer, or fails", async () => {
  let inFlight = 0;
  let most = 0;
  let failing = false;
  const raw = createSocketServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.once("data", () => {
      most = Math.max(most, ++inFlight);
      setImmediate(() => {
        inFlight--;
        if (failing) socket.resetAndDestroy();
        else socket.end(`${OK}Connection: close\r\nContent-Length: 2\r\n\r\nok`);
      });
    });
  });
  await new Promise<void>((resolve) => raw.listen(0, "127.0.0.1", resolve));
  await using client = clientOf(3);
  const url = new URL(`http://127.0.0.1:${(raw.address() as AddressInfo).port}/`);
  const query = () => text(client, url, question, never).catch((error: unknown) => (error as BrokenAnswer).code);
  for (const expected of ["ok", "ECONNRESET", "ok"]) {
    failing = expected !== "ok";
    expect(new Set(await Promise.all(Array.from({ length: 30 }, query)))).toEqual(new Set([expected]));
  }
  expect(most).toBeLessThanOrEqual(3);
  await new Promise((resolve) => raw.close(resolve));
  expect(await Promise.all(Array.from({ length: 9 }, query))).toEqual(Array.from({ length: 9 }, () => "ECONNREFUSED"));
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

test("https requires a trusted certificate; its connections are reused too", async () => {
  const sockets = new Set<unknown>();
  const secure = createSecureServer(SELF_SIGNED, (request, response) => {
    sockets.add(request.socket);
    response.end(`${request.url} ${request.headers.host}`);
  });
  server = secure;
  await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", resolve));
  const { port } = secure.address() as AddressInfo;
  await using client = clientOf(1);
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
