import { expect, test } from "vitest";
import { isOwnHost } from "./site-checks.ts";

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
