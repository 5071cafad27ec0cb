import { expect, test } from "vitest";
import { crossSiteRefusal, isOwnHost } from "./site-checks.ts";

const server = { host: "gis.lan", allowedOrigins: ["https://Maps.example:8443", "http://[fd00::1]"] };

test.each([
  undefined,
  "localhost",
  "localhost.",
  "localhost:8080",
  "LocalHost:",
  "127.0.0.1",
  "127.255.1.2:80",
  "[::1]",
  "[::1]:8080",
  "gis.lan",
  "GIS.lan:8080",
  "maps.example",
  "maps.example:1",
  "[fd00::1]:80",
])("%j is this server's own", (host) => {
  expect(isOwnHost(host, server)).toBe(true);
});

test.each([
  "",
  " ",
  "evil.example",
  "evil.example:127",
  "127.0.0.1.evil.example",
  "127.evil.example",
  "127.0.0.999",
  "128.0.0.1",
  "0.0.0.0",
  "localhost.evil.example",
  "notlocalhost",
  "evil@127.0.0.1",
  "127.0.0.1@evil.example",
  "localhost/evil.example",
  "[::2]",
  "[::1",
  "::1",
  "maps.example.evil",
  "x, localhost",
])("%j is not", (host) => {
  expect(isOwnHost(host, server)).toBe(false);
});

test("an IPv6 address that the server listens on is its own", () => {
  expect(isOwnHost("[::1]:8080", { host: "::1", allowedOrigins: [] })).toBe(true);
  expect(isOwnHost("[fd00::2]:8080", { host: "fd00::2", allowedOrigins: [] })).toBe(true);
});

const OWN = "http://gis.lan:8080";
const isRefused = (headers: Parameters<typeof crossSiteRefusal>[0]): boolean =>
  crossSiteRefusal(headers, OWN, { ...server, trustProxy: false }) !== undefined;

test("a change by a page of another site is refused", () => {
  for (const site of ["cross-site", "same-site", "other"])
    expect(isRefused({ "sec-fetch-site": site }), site).toBe(true);
  expect(isRefused({ origin: "https://evil.example" })).toBe(true);
  expect(isRefused({ origin: "null", "sec-fetch-site": "same-origin" })).toBe(true);
});

test("a change by a page of this server, of an allowed origin, or by no page is not refused", () => {
  expect(isRefused({})).toBe(false);
  for (const site of ["same-origin", "none"]) expect(isRefused({ origin: OWN, "sec-fetch-site": site })).toBe(false);
  expect(isRefused({ origin: "https://maps.example:8443", "sec-fetch-site": "cross-site" })).toBe(false);
});
