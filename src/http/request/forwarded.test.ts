import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { forwardedBy, parseForwarded } from "./forwarded.ts";

/** Returns a request on a connection from an address. */
function requestOf(headers: Readonly<Record<string, string>>, remote = "10.0.0.1"): IncomingMessage {
  const socket = new Socket();
  Object.defineProperty(socket, "remoteAddress", { value: remote });
  const request = new IncomingMessage(socket);
  Object.assign(request.headers, headers);
  return request;
}
const NOTHING = { scheme: undefined, host: undefined, prefix: "", client: undefined };

test("the headers of a trusted proxy give scheme, host, prefix and client", () => {
  const headers = {
    "x-forwarded-proto": "HTTPS",
    "x-forwarded-host": "maps.example:8443",
    "x-forwarded-prefix": "/tiles/",
    "x-forwarded-for": "192.0.2.7",
  };
  const facts = { scheme: "https", host: "maps.example:8443", prefix: "/tiles", client: "192.0.2.7" };
  expect(forwardedBy(requestOf(headers), true)).toEqual(facts);
  expect(forwardedBy(requestOf(headers), ["10.0.0.0/8"])).toEqual(facts);
  expect(forwardedBy(requestOf(headers, "::ffff:10.0.0.1"), ["10.0.0.0/8"])).toEqual(facts);
  for (const [trust, remote] of [
    [false, "10.0.0.1"],
    [["10.0.0.2"], "10.0.0.1"],
    [["10.0.0.0/8"], "192.0.2.1"],
  ] as const)
    expect(forwardedBy(requestOf(headers, remote), trust)).toEqual(NOTHING);
});

test("the header of RFC 7239 gives scheme, host and client", () => {
  const forwarded = 'for="[2001:db8:cafe::17]:4711";proto=https;by=203.0.113.43;host="maps.example:8443"';
  const facts = { scheme: "https", host: "maps.example:8443", prefix: "", client: "2001:db8:cafe::17" };
  expect(forwardedBy(requestOf({ forwarded }), true)).toEqual(facts);
  expect(forwardedBy(requestOf({ forwarded, "x-forwarded-prefix": "/m" }), true)).toEqual({ ...facts, prefix: "/m" });
  expect(forwardedBy(requestOf({ forwarded }), false)).toEqual(NOTHING);
});

test("beside X-Forwarded-… the header of RFC 7239 does not count: a client may have sent it", () => {
  const forwarded = "for=6.6.6.6;host=evil.example";
  for (const name of ["x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"])
    expect(forwardedBy(requestOf({ forwarded, [name]: "" }), true)).toEqual(NOTHING);
});

describe("a value that is not valid counts as not reported:", () => {
  for (const host of [
    "",
    "a.example, b.example",
    'a"b',
    "a'b",
    "a\r\nb",
    "a b",
    "a/b",
    "user@a",
    "a?b",
    "a#b",
    "a\\b",
    "<a>",
    "é",
    "a:b",
    "a:1:2",
    "[::1",
    "a".repeat(300),
  ])
    test(`host ${JSON.stringify(host).slice(0, 40)}`, () => {
      expect(forwardedBy(requestOf({ "x-forwarded-host": host }), true).host).toBeUndefined();
    });
  for (const scheme of ["", "https, http", "javascript", 'https"', "wss", "https:", "https\n"])
    test(`scheme ${JSON.stringify(scheme)}`, () => {
      const { scheme: got } = forwardedBy(requestOf({ "x-forwarded-proto": scheme }), true);
      expect(got).toBe(scheme === "https\n" ? "https" : undefined);
    });
  for (const prefix of [
    "",
    "/",
    "//evil.example",
    "//evil.example/a",
    "/a//b",
    "/a//",
    "evil",
    "https://evil.example",
    "/\\evil.example",
    "/../a",
    "/a/..",
    "/a/%2E%2e",
    "/./a",
    '/a"',
    "/a'",
    "/a<b>",
    "/a b",
    "/a\r\nb",
    "/a?b",
    "/a#b",
    "/a, /b",
    "/a;b",
    "/%zz",
    "/é",
    `/${"a".repeat(500)}`,
  ])
    test(`prefix ${JSON.stringify(prefix).slice(0, 40)}`, () => {
      expect(forwardedBy(requestOf({ "x-forwarded-prefix": prefix }), true).prefix).toBe("");
    });
  for (const [given, prefix] of [
    ["/a", "/a"],
    ["/a/", "/a"],
    ["/a/b-c/d_e.f~g", "/a/b-c/d_e.f~g"],
    ["/caf%C3%A9", "/caf%C3%A9"],
  ] as const)
    test(`but prefix ${given} counts`, () => {
      expect(forwardedBy(requestOf({ "x-forwarded-prefix": given }), true).prefix).toBe(prefix);
    });
});

describe("the client is the right-most address that no trusted proxy has", () => {
  const trusted = ["10.0.0.0/8", "2001:db8:1::/48"];
  for (const [addresses, one, listed] of [
    ["6.6.6.6, 192.0.2.7", "192.0.2.7", "192.0.2.7"],
    ["6.6.6.6, 192.0.2.7, 10.0.0.2", "10.0.0.2", "192.0.2.7"],
    ["6.6.6.6, 192.0.2.7, 2001:db8:1::2, 10.0.0.2", "10.0.0.2", "192.0.2.7"],
    ["10.0.0.3, 10.0.0.2", "10.0.0.2", "10.0.0.3"],
    ["192.0.2.7:4711", "192.0.2.7", "192.0.2.7"],
    ["[2001:db8::7]:4711", "2001:db8::7", "2001:db8::7"],
    ["2001:db8::7", "2001:db8::7", "2001:db8::7"],
    ["192.0.2.7, _hidden", "_hidden", "_hidden"],
    ["192.0.2.7, unknown, 10.0.0.2", "10.0.0.2", "10.0.0.2"],
    ["192.0.2.7, unknown", undefined, undefined],
    ["192.0.2.7,", undefined, undefined],
    ["", undefined, undefined],
    ["999.1.1.1", undefined, undefined],
    ["x".repeat(5000), undefined, undefined],
    ['"6.6.6.6"', undefined, undefined],
  ] as const)
    test(JSON.stringify(addresses).slice(0, 60), () => {
      const request = requestOf({ "x-forwarded-for": addresses });
      expect([forwardedBy(request, true).client, forwardedBy(request, trusted).client]).toEqual([one, listed]);
    });
  test("in the header of RFC 7239, whose element names scheme and host too", () => {
    const forwarded =
      "for=6.6.6.6;host=evil.example, for=192.0.2.7;proto=https;host=maps.example, for=10.0.0.2;proto=http;host=inner";
    expect(forwardedBy(requestOf({ forwarded }), trusted)).toEqual({
      scheme: "https",
      host: "maps.example",
      prefix: "",
      client: "192.0.2.7",
    });
    expect(forwardedBy(requestOf({ forwarded }), true)).toMatchObject({ host: "inner", client: "10.0.0.2" });
  });
});

describe("the header of RFC 7239", () => {
  const parsed = (header: string) => parseForwarded(header)?.map((element) => Object.fromEntries(element));
  // The examples of RFC 7239, section 4.
  for (const [header, elements] of [
    ['for="_gazonk"', [{ for: "_gazonk" }]],
    ['For="[2001:db8:cafe::17]:4711"', [{ for: "[2001:db8:cafe::17]:4711" }]],
    ["for=192.0.2.60;proto=http;by=203.0.113.43", [{ for: "192.0.2.60", proto: "http", by: "203.0.113.43" }]],
    ["for=192.0.2.43, for=198.51.100.17", [{ for: "192.0.2.43" }, { for: "198.51.100.17" }]],
    ['host="a\\"b\\\\c"', [{ host: 'a"b\\c' }]],
    [' for=a ; host=b\t,, proto="" ', [{ for: "a", host: "b" }, { proto: "" }]],
    ["", []],
  ] as const)
    test(`${header || "without a value"} is read`, () => expect(parsed(header)).toEqual(elements));
  for (const header of ["for", "for=", 'for="a', 'for="a"b', "for=a b", "for=[::1]", "=a", "host=a;host=b", "for=a\nb"])
    test(`${JSON.stringify(header)} is not valid`, () => expect(parsed(header)).toBeUndefined());
  test("of any text takes time that grows with its length, and names only hosts that can stand in a link", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary-ascii", maxLength: 200 }), (text) => {
        const { host, prefix } = forwardedBy(requestOf({ forwarded: text, "x-forwarded-prefix": text }), true);
        expect(host ?? "a").toMatch(/^[\w.:[\]-]+$/);
        expect(new URL(prefix, "http://a.example").host).toBe("a.example");
      }),
    );
    const beganMs = performance.now();
    for (const part of [" ", "for=a;", '"', "a=", ",", '\\"', "x\t"]) parseForwarded(part.repeat(16_000));
    expect(performance.now() - beganMs).toBeLessThan(1_000);
  });
});
