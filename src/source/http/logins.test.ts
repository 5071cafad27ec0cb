import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { digestGate, GATE_USER, type GateRules } from "../../../test/support/network/digest-gate.ts";
import type { UpstreamOptions } from "../../layer/source-options.ts";
import { machineClock } from "../../lib/time/machine-clock.ts";
import { SourceError } from "../source.ts";
import { createHttpFetch, type HttpFetch } from "./http-fetch.ts";

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function serve(listener: RequestListener): Promise<URL> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return new URL(`http://127.0.0.1:${port}/map`);
}

function sourceOf(url: URL, options: Partial<UpstreamOptions>): HttpFetch {
  const http = createHttpFetch(machineClock, { timeoutMs: 5000, connections: 8, vendorParameters: {}, ...options }, [
    url,
  ]);
  open.push(() => http[Symbol.asyncDispose]());
  return http;
}

const textOf = (http: HttpFetch, url: URL, form?: string): Promise<string> =>
  http.request({ url, form }, new AbortController().signal, ({ status, body }) => {
    const text = `${status} ${Buffer.from(body)}`;
    if (status === 500) throw new SourceError("server_error", text);
    return text;
  });

/** Starts a server that requires Digest. `answer` answers accepted requests; absent: with the address. */
async function digestServer({ answer, ...rules }: GateRules & { readonly answer?: RequestListener } = {}) {
  const gate = digestGate(answer ?? ((request, response) => void response.end(request.url)), rules);
  return { ...gate, url: await serve(gate.listener) };
}

const ME = GATE_USER;

describe("a server that wants Digest", () => {
  test("gets Basic once, and then the answer to its challenge, counted, with each request", async () => {
    const { url, seen } = await digestServer();
    const http = sourceOf(url, ME);
    for (const n of [1, 2, 3]) expect(await textOf(http, new URL(`?n=${n}`, url))).toBe(`200 /map?n=${n}`);
    expect(seen).toEqual(["Basic", "Digest n1 00000001", "Digest n1 00000002", "Digest n1 00000003"]);
    // A second source with the same credentials, such as the next poll of a feed.
    expect(await textOf(sourceOf(url, ME), url)).toBe("200 /map");
    expect(seen.at(-1)).toBe("Digest n1 00000004");
  });

  test("never gets the password in the clear with `authentication: digest`", async () => {
    const { url, seen } = await digestServer({ algorithm: "SHA-256" });
    expect(await textOf(sourceOf(url, { ...ME, authentication: "digest" }), url)).toBe("200 /map");
    expect(seen).toEqual(["none", "Digest n1 00000001"]);
    const plain = await serve(({ headers }, response) => {
      response.writeHead(401, { "WWW-Authenticate": 'Basic realm="x"' }).end(String(headers.authorization));
    });
    expect(await textOf(sourceOf(plain, { ...ME, authentication: "digest" }), plain)).toBe("401 undefined");
  });

  test.each([
    { algorithm: "MD5" },
    { algorithm: "MD5-sess" },
    { algorithm: "SHA-256-sess" },
    { qop: "" },
    { qop: "auth-int, auth" },
  ])("may have the rules %j", async (rules) => {
    const { url } = await digestServer(rules);
    const http = sourceOf(url, ME);
    expect([await textOf(http, url), await textOf(http, url)]).toEqual(["200 /map", "200 /map"]);
  });

  test("gets forms again, with their body", async () => {
    const { url } = await digestServer({
      answer: (request, response) => void request.setEncoding("utf8").on("data", (text) => response.end(text)),
    });
    expect(await textOf(sourceOf(url, ME), url, "LAYERS=a")).toBe("200 LAYERS=a");
  });

  test("is answered anew when its nonce is too old, said so or not", async () => {
    for (const stale of [", stale=true", ""]) {
      const { url, seen, old } = await digestServer({ stale });
      const http = sourceOf(url, ME);
      await textOf(http, url);
      old.add("n1");
      expect(await textOf(http, url)).toBe("200 /map");
      expect(seen.slice(2)).toEqual(["Digest n1 00000002", "Digest n2 00000001"]);
    }
  });

  test("may give the next nonce with each answer", async () => {
    const { url, seen } = await digestServer({ info: (n) => `nextnonce="n${n}", qop=auth` });
    const http = sourceOf(url, ME);
    for (const _ of [1, 2]) expect(await textOf(http, url)).toBe("200 /map");
    expect(seen).toEqual(["Basic", "Digest n1 00000001", "Digest n2 00000001"]);
  });

  test("gets requests side by side, each with a counter of its own", async () => {
    const { url, seen } = await digestServer();
    const http = sourceOf(url, ME);
    const answers = await Promise.all(Array.from({ length: 24 }, () => textOf(http, url)));
    expect(new Set(answers)).toEqual(new Set(["200 /map"]));
    const digests = seen.filter((one) => one.startsWith("Digest"));
    expect(new Set(digests).size).toBe(digests.length);
  });

  test("is sent a wrong password once for each request, not in circles", async () => {
    const { url, seen } = await digestServer();
    const http = sourceOf(url, { username: "me", password: "wrong" });
    expect(await textOf(http, url)).toBe("401 no");
    expect(seen).toEqual(["Basic", "Digest n1 00000001"]);
    expect(await textOf(http, url)).toBe("401 no");
    expect(seen.slice(2)).toEqual(["Digest n2 00000001"]);
  });

  test("that calls each nonce too old is not asked for ever", async () => {
    const seen: unknown[] = [];
    const url = await serve((_, response) => {
      seen.push(response.writeHead(401, { "WWW-Authenticate": 'Digest realm="r", nonce="n", stale=true' }).end("no"));
    });
    expect(await textOf(sourceOf(url, ME), url)).toBe("401 no");
    expect(seen.length).toBe(3);
  });

  test("gets nothing of it along a redirect to another server", async () => {
    const other = await serve(({ headers }, response) => {
      response.writeHead(401, { "WWW-Authenticate": 'Digest realm="r", nonce="n"' }).end(String(headers.authorization));
    });
    const { url } = await digestServer({
      answer: (_, response) => void response.writeHead(302, { Location: other.href }).end(),
    });
    expect(await textOf(sourceOf(url, { ...ME, allowPrivateRedirects: true }), url)).toBe("401 undefined");
  });

  test("ends the requests in the middle of a log-in or a redirect before it is closed", async () => {
    const { url } = await digestServer({
      answer: (request, response) => {
        if (request.url === "/map") response.writeHead(302, { Location: "/other" }).end();
        else response.end(request.url);
      },
    });
    const http = createHttpFetch(
      machineClock,
      { timeoutMs: 5000, connections: 1, vendorParameters: {}, ...ME, cookies: true },
      [url],
    );
    const [text] = await Promise.all([textOf(http, url), http[Symbol.asyncDispose]()]);
    expect(text).toBe("200 /other");
    await expect(textOf(http, url)).rejects.toMatchObject({ failure: "cancelled" });
  });

  test("signs the address of each redirect on the same server", async () => {
    const { url } = await digestServer({
      answer: (request, response) => {
        if (request.url === "/map") response.writeHead(302, { Location: "/other?b=1" }).end();
        else response.end(request.url);
      },
    });
    expect(await textOf(sourceOf(url, ME), url)).toBe("200 /other?b=1");
  });

  test("that repeats the answer in an error page has it taken out", async () => {
    const { url } = await digestServer({
      answer: ({ headers }, response) => void response.writeHead(500).end(headers.authorization),
    });
    const said = await textOf(sourceOf(url, ME), url).catch(String);
    expect(said).toMatch(/^SourceError: 500 Digest .*response="…"/);
    expect(said).not.toContain('"me"');
  });
});

/** Starts a server that answers with the cookies of the request. `set`: the cookies that it sets at an address. */
const cookieServer = (set: Readonly<Record<string, string | readonly string[]>>): Promise<URL> =>
  serve((request, response) => {
    const cookies = set[request.url ?? ""];
    if (cookies !== undefined) response.setHeader("Set-Cookie", cookies);
    response.end(request.headers.cookie ?? "none");
  });

describe("cookies of a source", () => {
  const COOKIES = { cookies: true };

  test("are sent back, and only with the key `cookies`", async () => {
    const url = await cookieServer({ "/map": ["session=a1; Path=/; HttpOnly", 'theme="dark mode"'] });
    const http = sourceOf(url, COOKIES);
    expect([await textOf(http, url), await textOf(http, url)]).toEqual([
      "200 none",
      '200 session=a1; theme="dark mode"',
    ]);
    const other = sourceOf(url, {});
    expect([await textOf(other, url), await textOf(other, url)]).toEqual(["200 none", "200 none"]);
    // Each source has a separate session.
    expect(await textOf(sourceOf(url, COOKIES), url)).toBe("200 none");
  });

  test("let in a server that redirects until its cookie comes back", async () => {
    const url = await serve((request, response) => {
      if (request.headers.cookie === "session=in") response.end("picture");
      else if (request.url === "/login")
        response.writeHead(302, { Location: "/map", "Set-Cookie": "session=in; Path=/" }).end();
      else response.writeHead(302, { Location: "/login" }).end();
    });
    const http = sourceOf(url, COOKIES);
    expect(await textOf(http, url)).toBe("200 picture");
    expect(await textOf(sourceOf(url, {}), url).catch(String)).toMatch(/redirected too often/);
  });

  test("go by path, expiry, TLS and domain", async () => {
    const url = await cookieServer({
      "/set": [
        "here=1; Path=/map",
        "there=1; Path=/other",
        "gone=1; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
        "secure=1; Path=/map; Secure",
        "foreign=1; Path=/; Domain=example.org",
        "suffix=1; Path=/; Domain=org",
        "own=1; Path=/; Domain=127.0.0.1",
        "default=1",
      ],
      "/end": ["here=; Path=/map; Max-Age=0"],
    });
    const http = sourceOf(url, COOKIES);
    await textOf(http, new URL("/set", url));
    expect(await textOf(http, url)).toBe("200 here=1; own=1; default=1");
    await textOf(http, new URL("/end", url));
    expect(await textOf(http, new URL("/map/a", url))).toBe("200 own=1; default=1");
  });

  test("are not sent to another server, and do not travel along a redirect", async () => {
    const other = await cookieServer({});
    const url = await serve((_, response) => {
      response.writeHead(302, { Location: other.href.replace("127.0.0.1", "localhost"), "Set-Cookie": "a=1" }).end();
    });
    const http = sourceOf(url, { ...COOKIES, allowPrivateRedirects: true });
    expect([await textOf(http, url), await textOf(http, url)]).toEqual(["200 none", "200 none"]);
  });

  test("have limits: of size, for one host, and of an answer", async () => {
    const many = Array.from({ length: 60 }, (_, i) => `c${i}=${i}`);
    const url = await cookieServer({ "/map": many, "/big": [`big=${"x".repeat(5000)}`, "small=1"] });
    const http = sourceOf(url, COOKIES);
    await textOf(http, url);
    await textOf(http, new URL("/big", url));
    const sent = (await textOf(http, url)).split("; ");
    expect(sent.length).toBe(50);
    expect(sent.at(-1)).toBe("small=1");
    expect(sent).not.toContain("c0=0");
  });

  test("are in no message", async () => {
    const url = await serve(({ headers }, response) => {
      response.setHeader("Set-Cookie", "session=s3ss10n-of-mine");
      response.writeHead(500).end(`your cookies: ${headers.cookie}; the next: s3ss10n-of-mine`);
    });
    const http = sourceOf(url, COOKIES);
    for (const _ of [1, 2]) expect(await textOf(http, url).catch(String)).not.toContain("s3ss10n");
  });

  test("are kept beside Digest", async () => {
    const { url, seen } = await digestServer({
      answer: ({ headers }, response) => {
        response.setHeader("Set-Cookie", "a=1");
        response.end(headers.cookie ?? "none");
      },
    });
    const http = sourceOf(url, { ...ME, ...COOKIES });
    expect([await textOf(http, url), await textOf(http, url)]).toEqual(["200 none", "200 a=1"]);
    expect(seen.length).toBe(3);
  });
});
