import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import bcrypt from "bcryptjs";
import { describe, expect, test } from "vitest";
import { severalNodes } from "../../support/cluster/balanced.ts";
import { startServer } from "../../support/server/server.ts";
import { contractServer } from "../contract-server.ts";

// `docs/reference/wire-format.md`, Authentication: with users configured. The realm and the absence of WWW-Authenticate elsewhere are laws (laws.ts).
const { transcript, at } = contractServer({
  configuration: () => `
users:
  - { name: admin, password: "a:dmin€", roles: [admin] }
  - { name: op, password: op, roles: [operator] }
  - { name: view, password: view, roles: [viewer] }
layers:
  - { name: a, source: { type: demo, dataset: states } }
  - { name: secret, source: { type: demo, dataset: states }, secured: true }
`,
});
const basic = (pair: string): string => `Authorization: Basic ${Buffer.from(pair).toString("base64")}`;
const ADMIN = basic("admin:a:dmin€");
const OPERATOR = basic("op:op");
const VIEWER = basic("view:view");

describe("without credentials every management request is 401, before path, method, cross-site and body", () => {
  for (const [method, path] of [
    ["GET", "/rest/seed.json"],
    ["GET", "/metrics"],
    ["POST", "/geowebcache/metrics"],
    ["GET", "/rest/seed/a.json"],
    ["GET", "/rest/seed/no:such.json"],
    ["POST", "/rest/seed/a.xml"],
    ["DELETE", "/rest/seed/a.xml"],
    ["POST", "/rest/seed"],
    ["OPTIONS", "/rest/seed"],
    ["GET", "/masstruncate"],
    ["POST", "/rest/masstruncate"],
    ["GET", "/diskquota.xml"],
    ["PUT", "/rest/diskquota.json"],
    ["GET", "/rest/diskquota.rubbish"],
    ["GET", "/rest/reload"],
    ["POST", "/rest/reload"],
    ["GET", "/rest/nothing"],
    ["GET", "/rest"],
    ["GET", "/%72est/seed.json"],
    ["GET", "/rest/seed/%zz.json"],
    ["GET", "/geowebcache/rest/seed.json"],
    ["GET", "/geowebcache/diskquota.json"],
  ] as const)
    transcript(
      `${method} ${path}`,
      `\n> ${method} ${path}\n> Sec-Fetch-Site: cross-site\n< 401 text/plain\n< WWW-Authenticate: Basic realm="Nuthatch"\n<\n< {line}`,
    );
  for (const path of ["/api/v1/jobs", "/api/v1/usage", "/api/v1/openapi.json", "/api/nothing"])
    transcript(
      `GET ${path}, as a problem`,
      `\n> GET ${path}\n< 401 application/problem+json\n< WWW-Authenticate: Basic realm="Nuthatch"\n<\n< {any}"status":401{any}`,
    );
  transcript(
    "a kill without credentials kills nothing, and a seed starts nothing",
    `
    > POST /rest/seed/a.json
    >
    > {"seedRequest":{}}
    < 401 text/plain
    < X-Job-Id: {absent}
    <
    < {any}
    > GET /rest/seed.json
    > ${ADMIN}
    < 200 application/json
    <
    < {"long-array-array":[]}
  `,
  );
});

describe("a 401 has a Basic challenge unless a script of a page asks", () => {
  const challenge = 'WWW-Authenticate: Basic realm="Nuthatch"';
  for (const path of ["/rest/seed.json", "/api/v1/jobs", "/xyz/secret/0/0/0.png", "/xyz/a/0/0/0.png?explain"]) {
    for (const mode of ["cors", "no-cors", "same-origin", "websocket"])
      transcript(
        `GET ${path} with Sec-Fetch-Mode ${mode} has none`,
        `\n> GET ${path}\n> Sec-Fetch-Mode: ${mode}\n< 401 {line}\n< WWW-Authenticate: {absent}\n<\n< {any}`,
      );
    transcript(
      `GET ${path} with Sec-Fetch-Mode navigate has one`,
      `\n> GET ${path}\n> Sec-Fetch-Mode: navigate\n< 401 {line}\n< ${challenge}\n<\n< {any}`,
    );
  }
});

describe("a request target that begins neither with / nor with a scheme is 400 before all else", () => {
  for (const [method, target] of [
    ["GET", "*x"],
    ["GET", "*/"],
    ["GET", "*x?layer=secret"],
    ["GET", "*/rest/seed.json"],
    ["OPTIONS", "*"],
    ["GET", "*"],
    ["CONNECT", "localhost:80"],
  ])
    transcript(
      `${method} ${target}`,
      `\n> ${method} ${target}\n< 400 text/plain\n<\n< The request target begins neither with "/" {any}`,
    );
  transcript("an absolute target has a scheme", "\n> GET http://localhost/livez\n< 200 text/plain\n<\n< ok");
  transcript(
    "an absolute target without a path is the console's shell, which is public",
    "\n> GET http://localhost\n< 200 text/html; charset=utf-8\n<\n< {any}",
  );
});

describe("what is public", () => {
  for (const path of ["/livez", "/readyz", "/healthz", "/geowebcache/readyz"])
    transcript(`GET ${path}`, `\n> GET ${path}\n< 200 text/plain\n<\n< ok`);
  transcript("a tile", "\n> GET /xyz/a/0/0/0.png\n< 200 image/png\n<\n< {any}");
  transcript(
    "a tile with wrong credentials",
    `\n> GET /xyz/a/0/0/0.png\n> ${basic("admin:no")}\n< 200 image/png\n<\n< {any}`,
  );
  for (const path of ["/", "/ui", "/ui/jobs/1", "/geowebcache/", "/?layer=a"])
    transcript(
      `the shell of the console at ${path}`,
      `\n> GET ${path}\n> Accept: text/html\n> ${basic("admin:no")}\n< 200 text/html; charset=utf-8\n<\n< {any}`,
    );
  transcript(
    "an address of the console means nothing to a client that wants JSON",
    "\n> GET /ui/jobs/1\n> Accept: application/json\n< 404 text/plain\n<\n< {any}",
  );
  transcript("static files of the pages", "\n> GET /assets/icon.svg\n< 200 {any}\n<\n< {any}");
  transcript("the preflight of a tile", "\n> OPTIONS /xyz/secret/0/0/0.png\n< 200\n< Access-Control-Allow-Origin: *");
  transcript(
    "a secured layer's tile is not",
    `
    > GET /xyz/secret/0/0/0.png
    < 401 text/plain
    < WWW-Authenticate: Basic realm="Nuthatch"
    < Cache-Control: no-store
    <
    < {line}
    > GET /xyz/secret/0/0/0.png
    > ${VIEWER}
    < 200 image/png
    < Cache-Control: {any}private{any}
    <
    < {any}
  `,
  );
});

describe("wrong credentials are 401", () => {
  for (const [what, header] of [
    ["a wrong password", basic("admin:no")],
    ["an unknown user", basic("nobody:op")],
    ["a name in another case", basic("ADMIN:a:dmin€")],
    ["no colon", basic("admin")],
    ["rubbish", "Authorization: Basic %%%"],
    ["another scheme", "Authorization: Bearer abc"],
  ] as const)
    transcript(what, `\n> GET /rest/seed.json\n> ${header}\n< 401 text/plain\n<\n< {line}`);
});

describe("roles", () => {
  const cases: readonly (readonly [request: string, type: string, viewer: number, operator: number, admin: number])[] =
    [
      ["GET /rest/seed.json", "application/json", 200, 200, 200],
      ["HEAD /rest/diskquota.xml", "text/xml", 200, 200, 200],
      ["GET /rest/masstruncate", "application/xml", 200, 200, 200],
      ["GET /api/v1/jobs", "application/json", 200, 200, 200],
      ["GET /api/v1/usage", "application/json", 200, 200, 200],
      ["GET /api/v1/schedules", "application/json", 200, 200, 200],
      ["GET /api/v1/truncations", "application/json", 200, 200, 200],
      ["GET /metrics", "text/plain; version=0.0.4; charset=utf-8", 200, 200, 200],
      ["POST /rest/seed?kill_all=all", "text/html; charset=utf-8", 403, 200, 200],
      ["POST /rest/seed/a?kill_all=all", "text/html; charset=utf-8", 403, 200, 200],
      ["POST /rest/masstruncate?requestType=truncateLayer&layer=a", "text/plain", 403, 200, 200],
      ["POST /rest/reload", "text/plain", 403, 403, 200],
    ];
  transcript(
    "truncateAll needs the role admin, although an operator truncates a layer",
    `\n> POST /rest/masstruncate\n> ${OPERATOR}\n> Content-Type: text/xml\n>\n> <truncateAll/>\n< 403 text/plain\n<\n< {any}`,
  );
  const users = [
    ["viewer", VIEWER],
    ["operator", OPERATOR],
    ["admin", ADMIN],
  ] as const;
  for (const [request, type, ...statuses] of cases)
    for (const [n, [role, credentials]] of users.entries()) {
      const status = statuses[n] ?? 0;
      transcript(
        `${request} as ${role} is ${status}`,
        `\n> ${request}\n> ${credentials}\n< ${status} ${status === 403 ? "text/plain" : type}\n${request.startsWith("HEAD") ? "" : "<\n< {any}"}`,
      );
    }
  // An account with the role learns that the schedule does not exist.
  for (const request of ["DELETE /api/v1/schedules/none", "POST /api/v1/schedules/none/run"])
    for (const [role, credentials, status] of [
      ["viewer", VIEWER, 403],
      ["operator", OPERATOR, 404],
    ] as const)
      transcript(
        `${request} as ${role} is ${status}`,
        `\n> ${request}\n> ${credentials}\n< ${status} application/problem+json\n<\n< {any}`,
      );
  transcript(
    "a schedule tells who has made it",
    `
    > PUT /api/v1/schedules/nightly
    > ${VIEWER}
    >
    > {"cron":"@yearly","job":{"layer":"a","confirm":true}}
    < 403 application/problem+json
    <
    < {any}
    > PUT /api/v1/schedules/nightly
    > ${OPERATOR}
    >
    > {"cron":"@yearly","job":{"layer":"a","confirm":true}}
    < 201 application/json
    <
    < {any}"createdBy":"op",{any}
  `,
  );
  for (const [role, credentials, status] of [
    ["viewer", VIEWER, 403],
    ["operator", OPERATOR, 403],
    ["admin", ADMIN, 200],
  ] as const)
    transcript(
      `PUT /rest/diskquota.json as ${role} is ${status}`,
      `\n> PUT /rest/diskquota.json\n> ${credentials}\n>\n> {"gwcQuotaConfiguration":{"enabled":false}}\n< ${status} ${status === 200 ? "application/json" : "text/plain"}\n<\n< {any}`,
    );
  for (const [role, credentials, status] of [
    ["viewer", VIEWER, 403],
    ["operator", OPERATOR, 200],
    ["admin", ADMIN, 200],
  ] as const)
    transcript(
      `POST /rest/seed/a.json as ${role} is ${status}`,
      `\n> POST /rest/seed/a.json\n> ${credentials}\n>\n> {"seedRequest":{"type":"truncate"}}\n< ${status} text/plain\n<${status === 403 ? "\n< {line}" : ""}`,
    );
});

describe("roles under /api/v1", () => {
  for (const request of [
    "POST /api/v1/jobs",
    "DELETE /api/v1/jobs/999999",
    "PATCH /api/v1/jobs/999999",
    "POST /api/v1/jobs/999999/cancel",
    "POST /api/v1/jobs/999999/pause",
    "POST /api/v1/jobs/999999/resume",
    "POST /api/v1/jobs/999999/retry",
  ])
    for (const [role, credentials, status] of [
      ["nobody", "X-Nobody: 1", 401],
      ["viewer", VIEWER, 403],
      ["operator", OPERATOR, 404],
    ] as const)
      transcript(
        `${request} as ${role} is ${status}`,
        `\n> ${request}\n> ${credentials}\n>\n> ${request.startsWith("PATCH") ? '{"priority":1}' : '{"layer":"no:such"}'}\n< ${status} application/problem+json\n<\n< {any}`,
      );
  transcript(
    "a job tells who made it and who ended it",
    `
    > POST /api/v1/jobs
    > ${OPERATOR}
    >
    > {"layer":"a","confirm":true}
    < 201 application/json
    <
    < {"id":{id:job},{any}"createdBy":"op","abortedBy":null{any}
    > POST /api/v1/jobs/{id:job}/pause
    > ${OPERATOR}
    < 200 application/json
    <
    < {any}"reason":"paused by op"{any}
    > POST /api/v1/jobs/{id:job}/cancel
    > ${ADMIN}
    < 200 application/json
    <
    < {any}"reason":"cancelled",{any}"createdBy":"op","abortedBy":"admin"{any}
  `,
  );
});

describe("the order after 401", () => {
  const refused = (sentence: string, request: string, credentials: string, status: number): void =>
    transcript(
      sentence,
      `\n> ${request}\n> ${credentials}\n> Sec-Fetch-Site: none\n< ${status} text/plain\n<\n< {any}`,
    );
  transcript(
    "cross-site 403 before 404",
    `\n> POST /rest/nothing\n> ${ADMIN}\n> Sec-Fetch-Site: cross-site\n< 403 text/plain\n<\n< {any}`,
  );
  refused("404 before the role", "POST /rest/nothing", VIEWER, 404);
  refused("405 before the role", "DELETE /rest/seed", VIEWER, 405);
  refused("the role before the layer", "POST /rest/seed/no:such.json", VIEWER, 403);
  refused("the layer after the role", "POST /rest/seed/no:such.json", OPERATOR, 400);
  transcript(
    "the role before the body",
    `\n> POST /rest/seed/a.json\n> ${VIEWER}\n>\n> rubbish\n< 403 text/plain\n<\n< {any}`,
  );
  transcript("OPTIONS with credentials", `\n> OPTIONS /rest/seed\n> ${VIEWER}\n< 200\n< Allow: POST, OPTIONS`);
});

test("wrong credentials that crowd are 429 with Retry-After, and the right ones pass at once", async () => {
  const { url } = at();
  const query = (pair: string) =>
    fetch(`${url}/rest/seed.json`, { headers: { Authorization: `Basic ${Buffer.from(pair).toString("base64")}` } });
  await query("op:op");
  // Each node has a separate queue.
  const crowd = Array.from({ length: severalNodes ? 80 : 40 }, (_, n) => query(`admin:${n}`));
  expect((await query("op:op")).status).toBe(200);
  const answers = await Promise.all(crowd);
  expect(new Set(answers.map((a) => a.status))).toEqual(new Set([401, 429]));
  for (const answer of answers) {
    expect(answer.headers.get("retry-after")).toBe(answer.status === 429 ? "1" : null);
    expect(answer.headers.get("www-authenticate"), "fetch says Sec-Fetch-Mode: cors").toBe(null);
  }
});

test("without a user any other address than loopback is refused at the start, with the remedy", async () => {
  await expect(startServer({ env: { NUTHATCH_HOST: "0.0.0.0" } })).rejects.toThrow(/NUTHATCH_ADMIN_PASSWORD/);
});

test("NUTHATCH_ADMIN_PASSWORD makes an administrator", async () => {
  const server = await startServer({ env: { NUTHATCH_ADMIN_PASSWORD: "pass", NUTHATCH_ADMIN_USER: "root" } });
  try {
    const status = async (headers: Record<string, string>) =>
      (await fetch(`${server.url}/rest/reload`, { method: "POST", headers })).status;
    expect(await status({})).toBe(401);
    expect(await status({ Authorization: `Basic ${Buffer.from("root:pass").toString("base64")}` })).toBe(200);
    expect(server.log()).not.toContain('"pass"');
  } finally {
    await server.close();
  }
});

test("the accounts of an htpasswd file may do what its roles may", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "nuthatch-htpasswd-"));
  writeFileSync(join(dataDir, "htpasswd"), `ann:${await bcrypt.hash("pass", 5)}\nold:{SHA}xyz\n`);
  const configuration = `htpasswd: { file: ${JSON.stringify(join(dataDir, "htpasswd"))}, roles: [viewer] }\n`;
  const server = await startServer({ dataDir, configuration });
  try {
    const status = async (pair: string, method = "GET") => {
      const headers = { Authorization: `Basic ${Buffer.from(pair).toString("base64")}` };
      const path = method === "GET" ? "/rest/seed.json" : "/rest/reload";
      return (await fetch(server.url + path, { method, headers })).status;
    };
    expect(await status("ann:pass")).toBe(200);
    expect(await status("ann:pass", "POST")).toBe(403);
    expect(await status("ann:password")).toBe(401);
    expect(await status("bob:pass")).toBe(401);
    expect(await status("old:{SHA}xyz")).toBe(401);
  } finally {
    await server.close();
  }
});
