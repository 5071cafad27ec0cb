import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { createServer as createHttpsServer, type ServerOptions } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { AUTHORITY, CLIENT_CERTIFICATE, SERVER_CERTIFICATE } from "../../../test/support/network/certificates.ts";
import { type ForwardProxy, startForwardProxy } from "../../../test/support/network/forward-proxy.ts";
import type { UpstreamOptions } from "../../layer/source-options.ts";
import { machineClock } from "../../lib/time/machine-clock.ts";
import { SourceError } from "../source.ts";
import { createHttpFetch } from "./http-fetch.ts";
import { checkStatus } from "./image-response.ts";

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
  vi.unstubAllEnvs();
});
beforeEach(() => {
  for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"]) {
    vi.stubEnv(name, undefined);
    vi.stubEnv(name.toLowerCase(), undefined);
  }
});

const answerPath: RequestListener = (request, response) =>
  void response.end(`${request.url} ${request.headers.via ?? "direct"}`);

async function serve(listener: RequestListener = answerPath, tls?: ServerOptions): Promise<URL> {
  const server = tls === undefined ? createHttpServer(listener) : createHttpsServer(tls, listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return new URL(`http${tls === undefined ? "" : "s"}://localhost:${port}/map`);
}

async function proxyOf(credentials?: string): Promise<ForwardProxy> {
  const proxy = await startForwardProxy(credentials);
  open.push(proxy.close);
  return proxy;
}

/** Reads the text at an address with a source that has these options. */
async function read(url: URL, options: Partial<UpstreamOptions> = {}): Promise<string> {
  await using upstream = createHttpFetch(
    machineClock,
    { timeoutMs: 5000, connections: 2, vendorParameters: {}, ...options },
    [url],
  );
  return await upstream.request(
    { url, form: undefined },
    new AbortController().signal,
    ({ status, body }) => `${status} ${Buffer.from(body)}`,
  );
}

test("a body that is compressed unasked is unpacked", async () => {
  const packed = gzipSync("<p>größer</p>");
  const url = await serve((_, response) => void response.writeHead(200, { "Content-Encoding": "gzip" }).end(packed));
  expect(await read(url)).toBe("200 <p>größer</p>");
});

async function failureOf(url: URL, options: Partial<UpstreamOptions> = {}): Promise<SourceError> {
  const failure: unknown = await read(url, options).catch((error: unknown) => error);
  if (failure instanceof SourceError) return failure;
  throw new Error("the request did not fail with a SourceError", { cause: failure });
}

/** Writes files for a source into the directory of the test. Returns their paths. */
function files(texts: Readonly<Record<string, string>>): NonNullable<UpstreamOptions["tls"]> {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-tls-"));
  open.push(() => rmSync(directory, { recursive: true }));
  const paths = Object.entries(texts).map(([name, text]) => {
    writeFileSync(join(directory, name), text);
    return [name, join(directory, name)];
  });
  return { ...Object.fromEntries(paths), stamp: "1" };
}

test("a redirect goes to the octets of its Location, escaped or not, in any encoding", async () => {
  const seen: (string | undefined)[] = [];
  for (const [location, next] of [
    [Buffer.from("/straße?ö=%DF"), "/stra%C3%9Fe?%C3%B6=%DF"],
    [Buffer.from("/straße?ö=%DF", "latin1"), "/stra%DFe?%F6=%DF"],
  ] as const) {
    const url = await serve((request, response) => {
      seen.push(request.url);
      // Node writes the characters of a header as the octets of ISO-8859-1.
      if (request.url === "/map") response.writeHead(302, { Location: location.toString("latin1") }).end();
      else response.end("there");
    });
    expect(await read(url)).toBe("200 there");
    expect(seen.at(-1)).toBe(next);
  }
});

test("the words of an error page have no secret, in its own encoding", async () => {
  const said = async (body: Buffer, contentType: string): Promise<string> => {
    const url = await serve((_, response) => void response.writeHead(400, { "Content-Type": contentType }).end(body));
    const at = new URL("?key=%DFgeheim-gehei", url);
    await using upstream = createHttpFetch(machineClock, { timeoutMs: 5000, connections: 1, vendorParameters: {} }, [
      at,
    ]);
    const answer = upstream.request({ url: at, form: undefined }, new AbortController().signal, checkStatus);
    return await answer.then(String, (error: Error) => error.message);
  };
  const text = "Straße key=%DFgeheim-gehei fehlt";
  for (const [body, type] of [
    [Buffer.from(text, "latin1"), "text/plain; charset=ISO-8859-1"],
    [Buffer.from(`\ufeff${text}`, "utf16le"), "text/plain"],
    [Buffer.from(text), "text/plain"],
  ] as const)
    expect(await said(body, type)).toBe("status 400: Straße key=… fehlt");
});

describe("headers of a source", () => {
  const shown: RequestListener = ({ headers }, response) =>
    void response.end(
      [headers["user-agent"], headers.referer, headers.authorization, headers["x-key"]].map(String).join(" | "),
    );
  const headers = { "User-Agent": "Maps/1", Referer: "https://a.example/", Authorization: "Bearer t0ken-t0ken" };

  test("replace those of Nuthatch, on the way along redirects of one server too", async () => {
    const url = await serve((request, response) => {
      if (request.url === "/map") response.writeHead(302, { Location: "/other" }).end();
      else shown(request, response);
    });
    expect(await read(url, { headers: { ...headers, "X-Key": "k" } })).toBe(
      "200 Maps/1 | https://a.example/ | Bearer t0ken-t0ken | k",
    );
  });

  test("are not sent along a redirect to another server, even to a configured one", async () => {
    const other = await serve(shown);
    const url = await serve((_, response) => void response.writeHead(307, { Location: other.href }).end());
    const answer = await read(url, { headers, allowPrivateRedirects: true });
    expect(answer).toMatch(/^200 Nuthatch\/\S+ \| undefined \| undefined \| undefined$/);
  });

  test("are in no message, with and without the scheme of a token", async () => {
    const url = await serve((_, response) => void response.end("t0ken-t0ken is no Bearer t0ken-t0ken"));
    const failing = createHttpFetch(machineClock, { timeoutMs: 5000, connections: 1, vendorParameters: {}, headers }, [
      url,
    ]);
    open.push(() => failing[Symbol.asyncDispose]());
    const request = failing.request({ url, form: undefined }, new AbortController().signal, ({ body }) => {
      throw new SourceError("exception", Buffer.from(body).toString());
    });
    await expect(request).rejects.toThrow(/^… is no …$/);
  });
});

describe("a proxy", () => {
  test("that the environment names gets the requests, but not those to servers in NO_PROXY", async () => {
    const proxy = await proxyOf();
    const url = await serve();
    vi.stubEnv("HTTP_PROXY", proxy.url);
    expect(await read(url)).toBe("200 /map 1.1 proxy");
    expect(proxy.requests).toEqual([`GET ${url.href}`]);
    for (const none of ["localhost", `localhost:${url.port}`, "*", "example.org, localhost"]) {
      vi.stubEnv("NO_PROXY", none);
      expect(await read(url)).toBe("200 /map direct");
    }
    vi.stubEnv("NO_PROXY", "localhost:1,ocalhost");
    expect(await read(url)).toBe("200 /map 1.1 proxy");
  });

  test("may be named without a scheme, and in lower case", async () => {
    const proxy = await proxyOf();
    vi.stubEnv("http_proxy", new URL(proxy.url).host);
    expect(await read(await serve())).toBe("200 /map 1.1 proxy");
  });

  test("tunnels requests with TLS, and does not see them", async () => {
    const proxy = await proxyOf();
    const url = await serve(answerPath, SERVER_CERTIFICATE);
    vi.stubEnv("HTTPS_PROXY", proxy.url);
    expect(await read(url, { tls: files({ ca: AUTHORITY }) })).toBe("200 /map direct");
    expect(proxy.requests).toEqual([`CONNECT ${url.host}`]);
  });

  test("of a source comes before that of the environment, and `none` is no proxy", async () => {
    const [general, special] = [await proxyOf(), await proxyOf()];
    const url = await serve();
    vi.stubEnv("HTTP_PROXY", general.url);
    expect(await read(url, { proxy: special.url })).toBe("200 /map 1.1 proxy");
    expect(await read(url, { proxy: "none" })).toBe("200 /map direct");
    expect([general.requests.length, special.requests.length]).toEqual([0, 1]);
  });

  test("gets the credentials in its address, and the upstream does not", async () => {
    const proxy = await proxyOf("me:p@ss");
    const seen: unknown[] = [];
    const url = await serve(({ headers }, response) => {
      seen.push(headers.authorization);
      response.end("x");
    });
    const withCredentials = proxy.url.replace("//", "//me:p%40ss@");
    expect(await read(url, { proxy: withCredentials })).toBe("200 x");
    expect(seen).toEqual([undefined]);
  });

  test("may have a percent sign in its password, escaped or not", async () => {
    const proxy = await proxyOf("me:p%ss w%C3%B6rd".replace("%C3%B6", "\u00f6"));
    const url = await serve();
    for (const written of ["p%ss%20w%C3%B6rd", "p%25ss%20w%C3%B6rd"]) {
      const address = proxy.url.replace("//", `//me:${written}@`);
      expect(await read(url, { proxy: address })).toBe("200 /map 1.1 proxy");
      vi.stubEnv("HTTP_PROXY", address);
      expect(await read(url)).toBe("200 /map 1.1 proxy");
    }
  });

  test("that wants other credentials refuses the connection, and no message names it", async () => {
    const proxy = await proxyOf("me:p@ss");
    const plain = await serve();
    const secure = await serve(answerPath, SERVER_CERTIFICATE);
    for (const url of [plain, secure]) {
      const { failure, message } = await failureOf(url, { proxy: proxy.url.replace("//", "//me:wrong-one@") });
      expect([failure, message]).toEqual(["refused", "the proxy refused to connect (status 407)"]);
    }
  });

  test("that is down, and one whose address is none, fail the request without being named", async () => {
    const proxy = await startForwardProxy();
    await proxy.close();
    const url = await serve();
    expect(await failureOf(url, { proxy: proxy.url })).toMatchObject({ failure: "refused", message: "no connection" });
    vi.stubEnv("HTTP_PROXY", "http://[secret-proxy");
    expect((await failureOf(url)).message).not.toMatch(/secret/);
  });

  test("is not named by the words of its own error page", async () => {
    const proxy = await proxyOf();
    const url = await serve();
    open.pop()?.();
    const said = await read(url, { proxy: proxy.url }).catch((error: unknown) => String(error));
    expect(said).toMatch(/^502 no way from/);
    await using upstream = createHttpFetch(
      machineClock,
      { timeoutMs: 5000, connections: 1, vendorParameters: {}, proxy: proxy.url },
      [url],
    );
    const failing = upstream.request({ url, form: undefined }, new AbortController().signal, ({ body }) => {
      throw new SourceError(
        "server_error",
        Buffer.from(body)
          .toString()
          .replace(/from .*/, `from ${proxy.url}`),
      );
    });
    await expect(failing).rejects.toThrow(/^no way from http:\/\/…$/);
  });

  test("is sent no redirect to a server that is not configured, as it would look up the name by itself", async () => {
    const proxy = await proxyOf();
    const url = await serve((_, response) => {
      response.writeHead(302, { Location: "http://metadata.example.org/" }).end();
    });
    const { failure, message } = await failureOf(url, { proxy: proxy.url });
    expect([failure, message]).toEqual(["http_status", expect.stringMatching(/^redirected through a proxy/)]);
    expect(proxy.requests).toEqual([`GET ${url.href}`]);
    const allowed = await failureOf(url, { proxy: proxy.url, allowPrivateRedirects: true }).catch(String);
    expect(proxy.requests.at(-1)).toBe("GET http://metadata.example.org/");
    expect(String(allowed)).not.toMatch(/metadata/);
  });

  test("keeps connections to the number that is configured", async () => {
    const proxy = await proxyOf();
    const held: (() => void)[] = [];
    let most = 0;
    const url = await serve((_, response) => {
      held.push(() => response.end("x"));
      most = Math.max(most, held.length);
      // A third request would arrive before the two are answered.
      if (held.length === 2)
        setImmediate(() => {
          for (const answer of held.splice(0)) answer();
        });
    });
    await using upstream = createHttpFetch(
      machineClock,
      { timeoutMs: 5000, connections: 2, vendorParameters: {}, proxy: proxy.url },
      [url],
    );
    const never = new AbortController().signal;
    await Promise.all(
      Array.from({ length: 8 }, () => upstream.request({ url, form: undefined }, never, () => undefined)),
    );
    expect(most).toBe(2);
  });
});

describe("TLS", () => {
  test("trusts the authorities in the file of `ca`, for the configured server only", async () => {
    const secure = await serve(answerPath, SERVER_CERTIFICATE);
    expect((await failureOf(secure)).message).toMatch(/UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/);
    const tls = files({ ca: AUTHORITY });
    expect(await read(secure, { tls })).toBe("200 /map direct");
    const redirecting = await serve((_, response) => void response.writeHead(302, { Location: secure.href }).end());
    const { message } = await failureOf(redirecting, { tls, allowPrivateRedirects: true });
    expect(message).toMatch(/UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/);
  });

  test("shows the client's certificate to the configured server, directly and through a proxy", async () => {
    const seen: unknown[] = [];
    const nameOf: RequestListener = ({ socket }, response) => {
      seen.push((socket as TLSSocket).getPeerCertificate().subject?.CN);
      response.end("x");
    };
    const strict = { ...SERVER_CERTIFICATE, ca: AUTHORITY, requestCert: true, rejectUnauthorized: true };
    const url = await serve(nameOf, strict);
    const proxy = await proxyOf();
    const tls = files({ ca: AUTHORITY, ...CLIENT_CERTIFICATE });
    expect(await read(url, { tls })).toBe("200 x");
    expect(await read(url, { tls, proxy: proxy.url })).toBe("200 x");
    expect(seen).toEqual(["nuthatch", "nuthatch"]);
    expect((await failureOf(url, { tls: files({ ca: AUTHORITY }) })).failure).toBe("reset");
  });

  test("a file that has gone fails requests, and is named by its key only", async () => {
    const url = await serve(answerPath, SERVER_CERTIFICATE);
    const { failure, message } = await failureOf(url, { tls: { ca: "/no/such/secret.pem", stamp: "1" } });
    expect([failure, message]).toEqual(["refused", "the file of ca cannot be read (ENOENT)"]);
  });
});
