import { createServer, type IncomingHttpHeaders } from "node:http";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { thisMachine } from "../../lib/this-machine.ts";
import { isSettingsFault } from "../remote/remote-error.ts";
import { AzureClient } from "./azure-client.ts";
import type { AzureOptions } from "./azure-options.ts";
import { signWithKey } from "./internal/azure-signer.ts";

interface Seen {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
}

const seen: Seen[] = [];
let answer: (request: Seen) => { status: number; code?: string; body?: string };
let options: AzureOptions;
const server = createServer((request, response) => {
  request.resume().on("end", () => {
    const one = {
      method: request.method ?? "",
      url: new URL(request.url ?? "", "http://any"),
      headers: request.headers,
    };
    seen.push(one);
    const { status, code, body = "" } = answer(one);
    response.writeHead(status, { ...(code === undefined ? {} : { "x-ms-error-code": code }), etag: '"0x1"' });
    response.end(request.method === "HEAD" ? undefined : body);
  });
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  options = {
    id: "main",
    endpoint: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/account`,
    container: "tiles",
    prefix: "p",
    accountName: "account",
    accountKey: Buffer.from("the-secret").toString("base64"),
    timeoutMs: 60_000,
    connections: 2,
    putSeconds: 30,
  };
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
beforeEach(() => {
  seen.length = 0;
  answer = () => ({ status: 200 });
});

const bytes = Buffer.from("a tile");

test("a put is signed in its address until putSeconds have passed, and has its condition and its sum", async () => {
  answer = () => ({ status: 201 });
  await using client = new AzureClient(options, thisMachine);
  const metadata = { "nuthatch-written": "5" };
  const put = { contentType: "image/png", metadata, condition: { kind: "absent" } } as const;
  const beganMs = Date.now();
  expect(await client.put("ws:a/1.png", bytes, put)).toEqual({ kind: "stored", etag: '"0x1"' });
  const [{ url, headers } = { url: new URL("http://none"), headers: {} }] = seen;
  expect(url.pathname).toBe("/account/tiles/p/ws%3Aa/1.png");
  expect(Object.fromEntries(url.searchParams)).toMatchObject({ sr: "b", sp: "rcw", sig: expect.any(String) });
  const endMs = Date.parse(url.searchParams.get("se") ?? "");
  expect(endMs).toBeGreaterThanOrEqual(beganMs + 30_000);
  expect(endMs).toBeLessThan(Date.now() + 34_000);
  expect(headers).toMatchObject({
    "if-none-match": "*",
    "x-ms-blob-type": "BlockBlob",
    "x-ms-meta-nuthatch_written": "5",
    "content-md5": "w37njLiwT6ZOKVNCs+IpzQ==",
  });
  expect(headers.authorization).toBeUndefined();
});

test("all other requests have a signature in their headers", async () => {
  await using client = new AzureClient(options, thisMachine);
  await client.head("k");
  await client.delete("k");
  for (const { headers } of seen) expect(headers.authorization).toMatch(/^SharedKey account:[A-Za-z0-9+/]{43}=$/);
});

test("a signature covers verb, length, headers, resource and query", () => {
  const base = { method: "GET", path: "/c/b", query: { comp: "list" }, headers: {}, bodyBytes: 0 };
  const signed = (more: Partial<typeof base> & { headers?: Record<string, string> }, atMs = 0): string | undefined =>
    signWithKey({ ...base, ...more }, options, atMs).headers["authorization"];
  const all = [
    signed({}),
    signed({ method: "PUT" }),
    signed({ path: "/c/d" }),
    signed({ query: { comp: "x" } }),
    signed({ bodyBytes: 1 }),
    signed({ headers: { "if-match": "e" } }),
    signed({ headers: { "x-ms-meta-a": "b" } }),
    signed({}, 1_000),
  ];
  expect(new Set(all).size).toBe(all.length);
  expect(signed({})).toBe(all[0]);
});

test.each([
  [403, "AuthenticationFailed", true],
  [404, "ContainerNotFound", true],
  [403, "AuthorizationPermissionMismatch", false],
  [409, "SomethingElse", false],
])("%i %s: a fault of the settings: %s", async (status, code, isSettings) => {
  answer = () => ({ status, code });
  await using client = new AzureClient(options, thisMachine);
  const error: unknown = await client.ask().catch((reason: unknown) => reason);
  expect(error).toMatchObject({ status, code });
  expect(isSettingsFault(error)).toBe(isSettings);
});

test("a condition that does not hold is no error, and a busy service is asked again", async () => {
  await using client = new AzureClient(options, thisMachine);
  const put = { contentType: "image/png", condition: { kind: "absent" } } as const;
  answer = () => ({ status: 409, code: "BlobAlreadyExists" });
  expect(await client.put("k", bytes, put)).toEqual({ kind: "changed" });
  answer = () => (seen.length === 2 ? { status: 503, code: "ServerBusy" } : { status: 201 });
  expect(await client.put("k", bytes, put)).toMatchObject({ kind: "stored" });
  expect(seen).toHaveLength(3);
});

test("a listing follows its markers, and names that XML cannot have are decoded", async () => {
  const page = (names: string, next: string): string =>
    `<?xml version="1.0" encoding="utf-8"?><EnumerationResults><Blobs>${names}</Blobs><NextMarker>${next}</NextMarker></EnumerationResults>`;
  const blob = (name: string): string =>
    `<Blob>${name}<Properties><Last-Modified>Mon, 30 Nov 2026 06:00:00 GMT</Last-Modified><Content-Length>7</Content-Length></Properties></Blob>`;
  answer = ({ url }) =>
    url.searchParams.get("marker") === null
      ? { status: 200, body: page(`${blob("<Name>p/a&amp;b</Name>")}<BlobPrefix><Name>p/c/</Name></BlobPrefix>`, "m") }
      : { status: 200, body: page(blob('<Name Encoded="true">p/%EF%BF%BE</Name>'), "") };
  await using client = new AzureClient(options, thisMachine);
  const pages = [];
  for await (const one of client.list({ prefix: "", delimiter: "/", limit: 2 })) pages.push(one);
  const modifiedMs = Date.UTC(2026, 10, 30, 6);
  expect(pages).toEqual([
    { objects: [{ key: "a&b", bytes: 7, modifiedMs }], prefixes: ["c/"], next: "m" },
    { objects: [{ key: "\uFFFE", bytes: 7, modifiedMs }], prefixes: [], next: undefined },
  ]);
  expect(Object.fromEntries(seen[0]?.url.searchParams ?? [])).toEqual({
    restype: "container",
    comp: "list",
    prefix: "p/",
    delimiter: "/",
    maxresults: "2",
  });
});
