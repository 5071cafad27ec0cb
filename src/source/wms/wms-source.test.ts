import { once } from "node:events";
import type { RequestListener } from "node:http";
import { createServer } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { formatNamed, gridSetNamed } from "../../../test/support/layer.ts";
import { startOrigin } from "../../../test/support/upstream/origin.ts";
import { encodePng } from "../../image/png-encode.ts";
import type { WmsSourceOptions } from "../../layer/source-options.ts";
import { describeHttpSource, describeVectorTiles, UNHEARD } from "../source.conformance.ts";
import { type Question, type RenderRequest, type Source, SourceError } from "../source.ts";
import { createWmsSource } from "./wms-source.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function serve(handler: RequestListener): Promise<string> {
  const { origin, close } = await startOrigin(handler);
  open.push(close);
  return `${origin}/wms`;
}

/** A server that sends the same bytes to every client. */
async function serveAsIs(answer: string): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end(answer, "latin1"));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  open.push(async () => void server.close());
  const at = server.address();
  if (at === null || typeof at === "string") throw new Error("no port");
  return `http://127.0.0.1:${at.port}/wms`;
}

function sourceAt(url: string | readonly string[], options: Partial<WmsSourceOptions> = {}): Source {
  const source = createWmsSource(
    {
      type: "wms",
      url,
      version: "1.1.1",
      layers: ["roads"],
      styles: [],
      transparent: false,
      timeoutMs: 5000,
      connections: 2,
      vendorParameters: {},
      ...options,
    },
    UNHEARD,
  );
  open.push(async () => source[Symbol.asyncDispose]());
  return source;
}

const wmsOf = (origins: readonly string[]): Source =>
  createWmsSource(
    {
      type: "wms",
      url: origins.map((origin) => `${origin}/wms`),
      version: "1.3.0",
      layers: ["roads"],
      styles: [],
      transparent: false,
      timeoutMs: 2000,
      connections: 2,
      vendorParameters: {},
    },
    UNHEARD,
  );
describeHttpSource("wms", wmsOf);
describeVectorTiles("wms", wmsOf);

const REQUEST: RenderRequest = {
  gridSet: gridSetNamed("EPSG:4326"),
  extent: { minX: -180, minY: -90, maxX: 0, maxY: 90 },
  width: 256,
  height: 256,
  format: formatNamed("image/png"),
  parameters: {},
};
const LEGEND: Question = { kind: "legend", style: "", format: "image/png", options: {} };
const INFO: Question = {
  kind: "feature_info",
  gridSet: REQUEST.gridSet,
  extent: REQUEST.extent,
  width: 256,
  height: 256,
  i: 1,
  j: 1,
  infoFormat: "text/html",
  featureCount: undefined,
  parameters: {},
};
const TILE = Buffer.from(
  encodePng(
    { width: 4, height: 4, channels: 3, data: new Uint8Array(48).map((_, i) => i * 5) },
    { left: 0, top: 0, width: 4, height: 4 },
  ),
);

const never = (): AbortSignal => new AbortController().signal;

async function failureAt(source: Source, signal = never()): Promise<SourceError> {
  try {
    await source.render(REQUEST, signal);
  } catch (error) {
    if (error instanceof SourceError) return error;
    throw error;
  }
  throw new Error("it was rendered");
}

async function failure(handler: RequestListener, options: Partial<WmsSourceOptions> = {}): Promise<SourceError> {
  return failureAt(sourceAt(await serve(handler), options));
}

const answer =
  (status: number, type: string, body: string | Buffer, headers: Record<string, string> = {}): RequestListener =>
  (_, response) => {
    response.writeHead(status, { "Content-Type": type, ...headers });
    response.end(body);
  };

test("a picture is handed on byte by byte, whatever its Content-Type claims", async () => {
  for (const type of ["image/png", "text/html", "application/octet-stream"]) {
    const source = sourceAt(await serve(answer(200, type, TILE)));
    const rendering = await source.render(REQUEST, never());
    if (rendering.kind !== "encoded") throw new Error(rendering.kind);
    expect(TILE.equals(rendering.bytes)).toBe(true);
  }
});

test("a request to the upstream has the user agent, the accepted encoding and the configured credentials", async () => {
  const seen: (string | undefined)[] = [];
  const url = await serve((request, response) => {
    seen.push(request.headers["user-agent"], request.headers.authorization, request.headers["accept-encoding"]);
    response.end(TILE);
  });
  await sourceAt(url, { username: "map", password: "s3cret:ü" }).render(REQUEST, never());
  await sourceAt(url).render(REQUEST, never());
  expect(seen).toEqual([
    expect.stringMatching(/^Nuthatch\/\d+\.\d+\.\d+/),
    `Basic ${Buffer.from("map:s3cret:ü").toString("base64")}`,
    "identity",
    expect.stringMatching(/^Nuthatch\//),
    undefined,
    "identity",
  ]);
});

describe("an answer that is no picture fails with the upstream's own words:", () => {
  const report = (inner: string): string =>
    `<?xml version="1.0"?>\n<!DOCTYPE x SYSTEM "http://schemas.opengis.net/x.dtd">\n<ServiceExceptionReport version="1.1.1">${inner}</ServiceExceptionReport>`;
  test.each([
    [
      "a WMS 1.1.1 exception",
      "application/vnd.ogc.se_xml",
      report(
        '<ServiceException code="LayerNotDefined">\n Could not find\n layer &quot;roads&quot; </ServiceException>',
      ),
      'Could not find layer "roads"',
    ],
    [
      "one that calls itself a PNG, behind a byte order mark",
      "image/png",
      `\ufeff${report("<ServiceException><![CDATA[no <b>data</b>]]></ServiceException>")}`,
      "no data",
    ],
    [
      "an OWS exception",
      "text/xml",
      "<ows:ExceptionReport><ows:Exception><ows:ExceptionText>bad box</ows:ExceptionText></ows:Exception></ows:ExceptionReport>",
      "bad box",
    ],
    ["one with a code and no words", "text/xml", report('<ServiceException code="InvalidSRS"/>'), "InvalidSRS"],
    [
      "a page",
      "text/html",
      "<html><head><style>b{}</style><title>Oops</title></head><body><h1>Out of&nbsp;order</h1><script>x()</script></body></html>",
      "Oops Out of order",
    ],
    [
      "plain text",
      "text/plain",
      "msLoadMap(): Unable to\r\n access file. \u0007",
      "msLoadMap(): Unable to access file.",
    ],
    ["JSON", "application/json", '{"error":"nope"}', '{"error":"nope"}'],
    ["an empty document", "text/xml", "<a/>", "a document without words"],
  ])("%s", async (_, type, body, words) => {
    const error = await failure(answer(200, type, body));
    expect([error.failure, error.message]).toEqual(["exception", words]);
  });

  test("words are cut at 300 characters, in one line", async () => {
    const { message } = await failure(answer(200, "text/plain", "line\n".repeat(5000)));
    expect(message).toHaveLength(301);
    expect(message).not.toMatch(/\n/);
  });
});

test("an empty answer and bytes of an unknown kind are different failures", async () => {
  expect((await failure(answer(200, "image/png", ""))).failure).toBe("empty");
  const bitmap = await failure(answer(200, "image/bmp", Buffer.from("BM\x08")));
  expect([bitmap.failure, bitmap.message]).toEqual(["wrong_type", "the answer is no picture (image/bmp)"]);
});

test.each([
  [400, {}, "http_status", undefined],
  [401, {}, "http_status", undefined],
  [404, {}, "http_status", undefined],
  [500, {}, "server_error", undefined],
  [502, {}, "server_error", undefined],
  [503, {}, "server_error", undefined],
  [503, { "Retry-After": "7" }, "busy", 7000],
  [429, { "Retry-After": "2" }, "busy", 2000],
  [429, {}, "busy", undefined],
  [429, { "Retry-After": "soon" }, "busy", undefined],
])("status %i with %o is %s", async (status, headers, kind, wait) => {
  const error = await failure(answer(status, "text/html", "<h1>Sorry</h1>", headers));
  expect([error.failure, error.retryAfterMs, error.message]).toEqual([kind, wait, `status ${status}: Sorry`]);
});

test("a picture with an error status is an error", async () => {
  const error = await failure(answer(500, "image/png", TILE));
  expect([error.failure, error.message]).toEqual(["server_error", "status 500"]);
});

test("Retry-After may be a date", async () => {
  const at = new Date(Date.now() + 60_000).toUTCString();
  const { retryAfterMs = 0 } = await failure(answer(503, "text/plain", "later", { "Retry-After": at }));
  expect(retryAfterMs).toBeGreaterThan(50_000);
  expect(retryAfterMs).toBeLessThanOrEqual(60_000);
  const past = await failure(answer(503, "text/plain", "", { "Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT" }));
  expect(past.retryAfterMs).toBe(0);
});

test("an upstream without a listener is the failure refused", async () => {
  const url = await serve(() => undefined);
  await open.pop()?.();
  expect((await failureAt(sourceAt(url))).failure).toBe("refused");
});

test("a host that does not exist is told as such, without its name", async () => {
  const error = await failureAt(sourceAt("http://nothing-here.invalid/wms"));
  expect(error.failure).toBe("unknown_host");
  expect(error.message).not.toMatch(/invalid|nothing-here/);
});

test("a connection that breaks before the answer is a reset, in the middle of it truncated", async () => {
  expect((await failure((request) => request.socket.destroy())).failure).toBe("reset");
  const half: RequestListener = (_, response) => {
    response.writeHead(200, { "Content-Type": "image/png", "Content-Length": String(TILE.length) });
    response.write(TILE.subarray(0, 20), () => response.destroy());
  };
  expect((await failure(half)).failure).toBe("truncated");
  const chunked: RequestListener = (_, response) => {
    response.writeHead(200, { "Content-Type": "image/png" });
    response.write(TILE.subarray(0, 20), () => response.destroy());
  };
  expect((await failure(chunked)).failure).toBe("truncated");
});

test("a missing answer and a very slow answer both end by the timeout of the whole request", async () => {
  expect((await failure(() => undefined, { timeoutMs: 150 })).failure).toBe("timeout");
  const drip: RequestListener = (_, response) => {
    response.writeHead(200, { "Content-Type": "image/png" });
    const timer = setInterval(() => response.write("x"), 20);
    response.on("close", () => clearInterval(timer));
  };
  const error = await failure(drip, { timeoutMs: 200 });
  expect([error.failure, error.message]).toEqual(["timeout", "no whole answer in 0.2 seconds"]);
});

test("an answer that is far too large is not read to its end", async () => {
  const announced: RequestListener = (_, response) => {
    response.writeHead(200, { "Content-Type": "image/png", "Content-Length": String(10 ** 9) });
    response.write(TILE);
  };
  expect((await failure(announced)).failure).toBe("too_large");
  let sent = 0;
  const endless: RequestListener = (_, response) => {
    response.writeHead(200, { "Content-Type": "image/png" });
    const piece = Buffer.alloc(1024 * 1024);
    const more = (): void => {
      while (!response.destroyed) {
        sent += piece.length;
        if (!response.write(piece)) break;
      }
    };
    response.on("drain", more);
    more();
  };
  expect((await failure(endless)).failure).toBe("too_large");
  expect(sent).toBeLessThan(128 * 1024 * 1024);
});

test("redirects are followed three times, a loop and an odd address are errors", async () => {
  let hops = 0;
  const chain = await serve((_, response) => {
    hops++;
    if (hops <= 3) response.writeHead(302, { Location: `/hop${hops}` }).end();
    else response.end(TILE);
  });
  expect((await sourceAt(chain).render(REQUEST, never())).kind).toBe("encoded");
  expect(hops).toBe(4);
  const loop = await failure((request, response) => void response.writeHead(301, { Location: request.url }).end());
  expect(loop.failure).toBe("http_status");
  for (const location of ["file:///etc/passwd", "http://[", "ftp://127.0.0.1/"]) {
    const error = await failure((_, response) => void response.writeHead(302, { Location: location }).end());
    expect([location, error.failure]).toEqual([location, "http_status"]);
  }
});

describe("a redirect to this machine or into a private network", () => {
  const REFUSED = /^redirected to this machine or into a private network, which needs allowPrivateRedirects/;

  test("is refused in every form of the address, for pictures and for queries to the map server", async () => {
    let requested = 0;
    const inside = await serve((_, response) => {
      requested++;
      response.end(TILE);
    });
    const { port } = new URL(inside);
    for (const host of ["127.0.0.1", "localhost", "0.0.0.0", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]"]) {
      const outside = await serve((_, response) => {
        response.writeHead(302, { Location: `http://${host}:${port}/latest/meta-data/iam` }).end();
      });
      const source = sourceAt(outside);
      const error = await failureAt(source);
      expect([host, error.failure, error.message]).toEqual([host, "http_status", expect.stringMatching(REFUSED)]);
      for (const question of [LEGEND, INFO]) await expect(source.query?.(question, never())).rejects.toThrow(REFUSED);
    }
    const toTls = await failure((_, response) => {
      response.writeHead(302, { Location: `https://127.0.0.1:${port}/` }).end();
    });
    expect(toTls.message).toMatch(REFUSED);
    expect(requested).toBe(0);
  });

  test("is followed to the upstream's own servers, and to others where the source allows it", async () => {
    const mirror = await serve((_, response) => void response.end(TILE));
    const first = await serve((_, response) => void response.writeHead(302, { Location: mirror }).end());
    expect((await sourceAt([first, mirror]).render(REQUEST, never())).kind).toBe("encoded");
    expect((await sourceAt(first, { allowPrivateRedirects: true }).render(REQUEST, never())).kind).toBe("encoded");
  });
});

test("an answer with a control character in its head is malformed, and no message holds the character", async () => {
  for (const type of ["text/html\x1b[31m", "text/html\0", "text/html\rX: y"]) {
    const origin = await serveAsIs(
      `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi`,
    );
    for (const question of [LEGEND, INFO]) {
      await expect(sourceAt(origin).query?.(question, never())).rejects.toThrow(/^the answer violates HTTP\/1.1 \(/);
    }
    const { failure: kind, message } = await failureAt(sourceAt(origin));
    expect(kind).toBe("reset");
    expect(message).not.toMatch(/\p{Cc}/u);
  }
});

test("credentials are not carried to another server", async () => {
  const seen: (string | undefined)[] = [];
  const other = await serve((request, response) => {
    seen.push(request.headers.authorization);
    response.end(TILE);
  });
  const first = await serve((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(302, { Location: other }).end();
  });
  await sourceAt(first, { username: "u", password: "p", allowPrivateRedirects: true }).render(REQUEST, never());
  expect(seen).toEqual([expect.stringMatching(/^Basic /), undefined]);
});

test("no message holds the address or the credentials, not even when the upstream repeats them", async () => {
  const echo: RequestListener = (request, response) => {
    response.writeHead(500, { "Content-Type": "text/html" });
    response.end(
      `<address>Apache Server at ${request.headers.host} http://${request.headers.host}/wms?x=1 127.0.0.1 Port 80</address> mapuser s3cret ${request.headers.authorization}`,
    );
  };
  const { message } = await failure(echo, { username: "mapuser", password: "s3cret" });
  expect(message).toMatch(/^status 500: Apache Server at …/);
  expect(message).not.toMatch(/127\.0\.0\.1|s3cret|mapuser|bWFwdXNlcjpzM2NyZXQ|http:/);
});

test("nor that of another server, to which a redirect leads, or what lets in there", async () => {
  const other = await serve((request, response) => {
    response.writeHead(500, { "Content-Type": "text/plain" });
    response.end(`no image/png at ${request.headers.host}, 127.0.0.1 or http://${request.headers.host}${request.url}`);
  });
  const redirecting: RequestListener = (request, response) => {
    const { search } = new URL(request.url ?? "/", "http://any");
    response.writeHead(302, { Location: `${other}${search}&ticket=TICKET98765` }).end();
  };
  const { message } = await failure(redirecting, { allowPrivateRedirects: true });
  expect(message).toMatch(/^status 500: no image\/png at …, … or/);
  expect(message).not.toMatch(/127\.0\.0\.1|TICKET|http:/);
});

test("no message holds a secret in another form, as a part of a word, or cut off", async () => {
  const password = "p@ss w&rd/1+<x>";
  const key = "ab+cd/ef==&gh12";
  const options = { username: "mapuser", password, vendorParameters: { apikey: key, token: "PLAINTOKEN987654" } };
  const bodies: readonly ((query: string) => string)[] = [
    (query) => `Bad query ${query}`,
    (query) => `<a href="/login?back=${encodeURIComponent(query)}">in</a> back=${encodeURIComponent(query)}`,
    () => `pw ${encodeURIComponent(password)}`,
    () => `pw ${password}`,
    () => `${"x".repeat(290)} PLAINTOKEN987654`,
    () => "key_PLAINTOKEN987654 token.PLAINTOKEN987654 a-PLAINTOKEN987654 PLAINTOKEN987654x",
    () => `<p>${key.replaceAll("&", "&amp;")} ${key.replaceAll("&", "&#38;")}</p>`,
  ];
  for (const [i, body] of bodies.entries()) {
    const { message } = await failure((request, response) => {
      response.writeHead(403, { "Content-Type": i % 2 === 0 ? "text/plain" : "text/html" });
      response.end(body(new URL(request.url ?? "/", "http://any").search));
    }, options);
    expect(message).toContain("status 403: ");
    expect(message).toContain("…");
    expect(message).not.toMatch(/PLAIN|ab(\+|%|&)|ef(=|%)|gh12|p@ss|p(%|%25)40ss|rd\/1/);
  }
});

test("a cancelled render ends at once, as cancelled, and the upstream sees the end", async () => {
  const abort = new AbortController();
  let seeEnd = (): void => undefined;
  const gone = new Promise<void>((resolve) => {
    seeEnd = resolve;
  });
  const url = await serve((_, response) => {
    response.on("close", seeEnd);
    abort.abort(new Error("no longer wanted"));
  });
  expect((await failureAt(sourceAt(url), abort.signal)).failure).toBe("cancelled");
  await gone;
  expect((await failureAt(sourceAt("http://127.0.0.1:9/"), abort.signal)).failure).toBe("cancelled");
});

test("no more connections are opened than allowed, and they are used again", async () => {
  const sockets = new Set<unknown>();
  const url = await serve((request, response) => {
    sockets.add(request.socket);
    setImmediate(() => response.end(TILE));
  });
  const source = sourceAt(url, { connections: 2 });
  await Promise.all(Array.from({ length: 20 }, () => source.render(REQUEST, never())));
  expect(sockets.size).toBe(2);
});

test("a source that closes lets what it renders end", async () => {
  let release = (): void => undefined;
  const arrived = new Promise<void>((resolve) => {
    release = resolve;
  });
  let finish = (): void => undefined;
  const url = await serve((_, response) => {
    finish = () => void response.end(TILE);
    release();
  });
  const source = sourceAt(url);
  const picture = source.render(REQUEST, never());
  await arrived;
  const closed = source[Symbol.asyncDispose]();
  finish();
  expect((await picture).kind).toBe("encoded");
  await closed;
  expect((await failureAt(source)).failure).toBe("cancelled");
  open.splice(1);
});

test("with several addresses a render is made by the next one when the first is down or broken", async () => {
  const down = await serve(() => undefined);
  await open.pop()?.();
  let broken = 0;
  const first = await serve((_, response) => {
    broken++;
    response.writeHead(500).end();
  });
  const good = await serve((_, response) => void response.end(TILE));
  const source = sourceAt([down, first, good]);
  for (let i = 0; i < 3; i++) expect((await source.render(REQUEST, never())).kind).toBe("encoded");
  expect(broken).toBe(1);
});

test("an answer that is no outage is the answer, whatever other addresses there are", async () => {
  let requested = 0;
  const missing = await serve((_, response) => void response.writeHead(404).end());
  const other = await serve((_, response) => {
    requested++;
    response.end(TILE);
  });
  expect((await failureAt(sourceAt([missing, other]))).failure).toBe("http_status");
  expect(requested).toBe(0);
});

test("a render that is cancelled asks no further address", async () => {
  const abort = new AbortController();
  let requested = 0;
  const first = await serve((request) => {
    abort.abort(new Error("no longer wanted"));
    request.socket.destroy();
  });
  const second = await serve((_, response) => {
    requested++;
    response.end(TILE);
  });
  expect((await failureAt(sourceAt([first, second]), abort.signal)).failure).toBe("cancelled");
  expect(requested).toBe(0);
});

test("keys among the parameters and in the address are in no message either", async () => {
  const url = await serve((request, response) => void response.writeHead(400).end(`bad request ${request.url}`));
  const source = sourceAt(`${url}?token=abcdefgh1234`, { vendorParameters: { apikey: "k3y-of-the-house" } });
  const { message } = await failureAt(source);
  expect(message).toMatch(/^status 400: bad request \/wms/);
  expect(message).not.toMatch(/abcdefgh1234|k3y-of-the-house/);
});

test("method post sends the parameters as a form, but not those of the configured address", async () => {
  const seen: {
    method: string | undefined;
    url: string | undefined;
    type: string | undefined;
    form: URLSearchParams;
  }[] = [];
  const url = await serve((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const form = new URLSearchParams(Buffer.concat(parts).toString());
      seen.push({ method: request.method, url: request.url, type: request.headers["content-type"], form });
      if (form.get("REQUEST") === "GetFeatureInfo") response.end("info");
      else response.end(TILE);
    });
  });
  const source = sourceAt(`${url}?map=/srv/a.map`, { method: "post", username: "u", password: "p" });
  expect((await source.render(REQUEST, never())).kind).toBe("encoded");
  expect(seen[0]).toMatchObject({
    method: "POST",
    url: "/wms?map=/srv/a.map",
    type: "application/x-www-form-urlencoded",
  });
  expect(seen[0]?.form.get("LAYERS")).toBe("roads");
  expect(seen[0]?.form.get("BBOX")).toBe("-180,-90,0,90");
  expect(seen[0]?.form.has("map")).toBe(false);
  expect(Buffer.from((await source.query?.(INFO, never()))?.bytes ?? []).toString()).toBe("info");
  expect(seen[1]).toMatchObject({ method: "POST" });
});

test.each([
  [302, "GET", false],
  [307, "POST", true],
])("a form that is redirected by %i is sent as %s", async (status, method, hasForm) => {
  const seen: (readonly [string | undefined, boolean])[] = [];
  const target = await serve((request, response) => {
    seen.push([request.method, request.headers["content-length"] !== undefined]);
    request.resume().on("end", () => response.end(TILE));
  });
  const url = await serve((request, response) => {
    request.resume().on("end", () => response.writeHead(status, { Location: target }).end());
  });
  const source = sourceAt([url, target], { method: "post" });
  expect((await source.render(REQUEST, never())).kind).toBe("encoded");
  expect(seen).toEqual([[method, hasForm]]);
});
