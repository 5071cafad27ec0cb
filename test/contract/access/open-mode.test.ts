import { describe } from "vitest";
import { contractServer } from "../contract-server.ts";

// `docs/reference/wire-format.md`, Authentication: no user is configured, and the server listens on loopback.
const { transcript } = contractServer();

for (const header of [
  "Authorization: Basic Z2Vvc2VydmVyOmdlb3NlcnZlcg==",
  "Authorization: Basic %%%",
  "Authorization: Bearer x",
])
  transcript(
    `credentials sent to an open server are ignored: ${header}`,
    `
    > GET /rest/seed.json
    > ${header}
    < 200 application/json
    <
    < {"long-array-array":[]}
  `,
  );

describe("without users the management interface is there under its own names only", () => {
  const proxied = contractServer({
    configuration: () =>
      'server: { trustProxy: true, allowedOrigins: ["https://maps.example"] }\nlayers:\n  - { name: a, source: { type: demo, dataset: states } }\n',
  });
  const foreign = (what: string, request: string, headers: readonly string[], of = transcript, type = "text/plain") =>
    of(
      what,
      `\n> ${request}\n${headers.map((h) => `> ${h}`).join("\n")}\n< 403 ${type}\n<\n< {any}Host: expected {any}`,
    );
  const EVIL = "Host: evil.example:8080";

  for (const request of [
    "GET /rest/seed.json",
    "POST /rest/seed?kill_all=all",
    "GET /diskquota.json",
    "GET /metrics",
    "GET /rest/nothing",
    "DELETE /rest/seed",
  ])
    foreign(`${request} under a foreign name is 403`, request, [EVIL]);
  transcript(
    "a path that is none of the management interface is 404 under any name",
    `
    > GET /nothing
    > ${EVIL}
    < 404 text/plain
    <
    < There is nothing at this path.
  `,
  );
  foreign("a page that has rebound its name is 403, though it is of the same origin", "POST /rest/seed", [
    EVIL,
    "Origin: http://evil.example:8080",
    "Sec-Fetch-Site: same-origin",
  ]);
  foreign("under /api it is a problem", "GET /api/v1/status", [EVIL], transcript, "application/problem+json");
  for (const host of ["127.0.0.1.evil.example", "localhost.evil.example", "evil@127.0.0.1", "10.0.0.1", "", "[::2]"])
    foreign(`Host "${host}"`, "GET /rest/seed.json", [`Host: ${host}`]);
  // Node keeps the first line and drops the second, which a proxy before the server may have checked.
  for (const [first, second] of [
    ["localhost", "evil.example"],
    ["localhost", "localhost"],
  ])
    transcript(
      `a request with the Host lines ${first} and ${second} is 400`,
      `\n> GET /rest/seed.json\n> Host: ${first}\n> hOsT: ${second}\n< 400 text/plain\n<\n< Host: expected one Host header`,
    );
  foreign("an absolute target does not stand for Host", "GET http://localhost/rest/seed.json", [EVIL]);
  foreign("X-Forwarded-Host does not stand for Host", "GET /rest/seed.json", [EVIL, "X-Forwarded-Host: localhost"]);
  foreign(
    "X-Forwarded-Host does not stand for Host behind a proxy either",
    "GET /rest/seed.json",
    [EVIL, "X-Forwarded-Host: localhost"],
    proxied.transcript,
  );
  for (const host of ["localhost", "LOCALHOST:1", "127.0.0.1:99", "127.8.9.10", "[::1]", "[::1]:8080"])
    transcript(
      `Host ${host} is its own`,
      `\n> GET /rest/seed.json\n> Host: ${host}\n< 200 application/json\n<\n< {any}`,
    );
  proxied.transcript(
    "the host of an allowed origin is its own",
    "\n> GET /rest/seed.json\n> Host: maps.example\n< 200 application/json\n<\n< {any}",
  );
  for (const path of ["/livez", "/", "/xyz/topp:states/0/0/0.png", "/assets/icon.svg"])
    transcript(`${path} is public under any name`, `\n> GET ${path}\n> ${EVIL}\n< 200 {any}\n<\n< {any}`);
});
