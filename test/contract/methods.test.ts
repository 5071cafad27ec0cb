import { afterAll, beforeAll, describe } from "vitest";
import { startServer, type TestServer } from "../support/server.ts";
import { type Case, contract } from "./raw.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

/** Every resource of the contract with the methods it allows (contract 4; HEAD and OPTIONS by decisions 1). */
const RESOURCES: readonly (readonly [path: string, allow: string])[] = [
  ["/rest/seed/topp:states.xml", "GET, HEAD, POST, OPTIONS"],
  ["/rest/seed/topp:states.json", "GET, HEAD, POST, OPTIONS"],
  ["/rest/seed/no:such.json", "GET, HEAD, POST, OPTIONS"],
  ["/rest/seed.json", "GET, HEAD, OPTIONS"],
  ["/rest/seed.xml", "GET, HEAD, OPTIONS"],
  ["/rest/seed", "POST, OPTIONS"],
  ["/rest/seed/topp:states", "POST, OPTIONS"],
  ["/masstruncate", "GET, HEAD, POST, OPTIONS"],
  ["/rest/masstruncate", "GET, HEAD, POST, OPTIONS"],
  ["/rest/masstruncate.xml", "GET, HEAD, POST, OPTIONS"],
  ["/diskquota.xml", "GET, HEAD, PUT, OPTIONS"],
  ["/rest/diskquota.json", "GET, HEAD, PUT, OPTIONS"],
  ["/rest/diskquota", "GET, HEAD, PUT, OPTIONS"],
  ["/rest/reload", "POST, OPTIONS"],
  ["/geowebcache/rest/seed.json", "GET, HEAD, OPTIONS"],
];

const cases: Case[] = [];
for (const [path, allow] of RESOURCES) {
  for (const method of ["GET", "POST", "PUT", "DELETE", "PATCH"]) {
    if (allow.split(", ").includes(method)) continue;
    cases.push({
      name: `${method} ${path} is 405 and names the methods`,
      request: `${method} ${path}`,
      status: 405,
      type: "text/plain",
      headers: { allow },
      body: new RegExp(allow),
    });
  }
  cases.push({
    name: `OPTIONS ${path} is 200, empty, with Allow`,
    request: `OPTIONS ${path}`,
    status: 200,
    headers: { allow },
    body: "",
  });
}
for (const path of ["/rest/seed.json", "/rest/diskquota.xml", "/rest/masstruncate", "/api/v1/jobs", "/"]) {
  cases.push({ name: `HEAD ${path} has no body`, request: `HEAD ${path}`, status: 200, body: "" });
}
cases.push(
  {
    name: "a browser that opens the seed resource gets a page that links to /",
    request: "GET /rest/seed\nAccept: text/html",
    status: 405,
    type: "text/html; charset=utf-8",
    body: /href="\/"/,
  },
  {
    name: "DELETE on the api is 405 as a problem",
    request: "DELETE /api/v1/jobs",
    status: 405,
    type: "application/problem+json",
    headers: { allow: "GET, HEAD, OPTIONS" },
  },
);

describe("methods", () => contract(() => server, cases));

describe("paths", () =>
  contract(
    () => server,
    [
      ["/rest/seed/", 404],
      ["/rest/seed/.json", 404],
      ["/rest/seed/.xml", 404],
      ["/rest/seed.json/", 200],
      ["/rest/seed/topp:states.json/", 200],
      ["/rest/seed/topp%3Astates.json", 200],
      ["/rest/seed/img%20states.json", 200],
      ["/rest/seed/img+states.json", 400],
      ["/rest/seed/topp:states.JSON", 405],
      ["/rest/seed/topp:states.txt", 405],
      ["/rest/seed/%zz.json", 400],
      ["/rest/seed/%ff.json", 400],
      ["/rest/seed/a/b.json", 404],
      ["/rest/seed/..%2f..%2fetc.json", 400],
      ["/rest/../rest/seed.json", 404],
      ["/rest/diskquota.txt", 404],
      ["/rest/statistics", 404],
      ["/rest", 404],
      ["/nothing", 404],
      ["/api/v1/nothing", 404],
      ["/api/v1/jobs/999999", 404],
      ["/api/v1/jobs?layer=nope", 404],
      ["/api/v1/jobs?state=odd", 400],
      ["/api/v1/jobs?limit=0", 400],
      ["/livez", 200],
      ["/readyz", 200],
      ["/geowebcache/healthz", 200],
      ["/geowebcache", 200],
      ["/", 200],
      ["/assets/leaflet.js", 200],
      ["/assets/../package.json", 404],
    ].map(([path, status]) => ({ name: `GET ${path} is ${status}`, request: `GET ${path}`, status: Number(status) })),
  ));

describe("what the parser refuses is text too", () =>
  contract(
    () => server,
    [
      { name: "a path of 9 KiB is 414", request: `GET /${"a".repeat(9000)}`, status: 414, type: "text/plain" },
      {
        name: "headers of 20 KiB are 431",
        request: `GET /rest/seed.json\nX-Long: ${"a".repeat(20_000)}`,
        status: 431,
        type: "text/plain",
      },
      {
        name: "a header without a colon is 400",
        request: "GET /rest/seed.json\nbroken header",
        status: 400,
        type: "text/plain",
      },
      {
        name: "an unknown expectation is 417",
        request: "GET /rest/seed.json\nExpect: magic",
        status: 417,
        type: "text/plain",
      },
      {
        name: "a body over 1 MiB is 413",
        request: `POST /rest/masstruncate\n\n${"a".repeat(1_100_000)}`,
        status: 413,
        type: "text/plain",
      },
    ],
  ));

describe("cross-site", () =>
  contract(
    () => server,
    [
      {
        name: "another site's form is 403",
        request: "POST /rest/seed\nSec-Fetch-Site: cross-site\n\nkill_all=all",
        status: 403,
      },
      {
        name: "same-site is another site too",
        request: "POST /rest/seed\nSec-Fetch-Site: same-site\n\nkill_all=all",
        status: 403,
      },
      {
        name: "an Origin that is not ours is 403",
        request: "POST /rest/seed\nOrigin: http://evil.example\n\nkill_all=all",
        status: 403,
      },
      { name: "the Origin null is 403", request: "POST /rest/seed\nOrigin: null\n\nkill_all=all", status: 403 },
      {
        name: "our own Origin is allowed",
        request: "POST /rest/seed\nOrigin: http://localhost\nSec-Fetch-Site: same-origin\n\nkill_all=all",
        status: 200,
      },
      {
        name: "a GET from anywhere changes nothing and is allowed",
        request: "GET /rest/seed.json\nOrigin: http://evil.example\nSec-Fetch-Site: cross-site",
        status: 200,
      },
      {
        name: "cross-site is told before the missing path",
        request: "POST /rest/nothing\nSec-Fetch-Site: cross-site\n\n",
        status: 403,
      },
    ],
  ));
