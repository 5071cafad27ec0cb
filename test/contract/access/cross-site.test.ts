import { describe } from "vitest";
import { contractServer } from "../contract-server.ts";

// `docs/reference/wire-format.md`, Authentication: requests that a browser sends for another site's page change nothing, in open mode too.
const { transcript } = contractServer();
const proxied = contractServer({
  configuration: () =>
    'server: { trustProxy: true, allowedOrigins: ["https://console.example"] }\nlayers:\n  - { name: a, source: { type: demo, dataset: states } }\n',
});

const post = (t: typeof transcript, sentence: string, headers: readonly string[], allowed: "allowed" | "forbidden") =>
  t(
    sentence,
    `
    > POST /rest/seed
    ${headers.map((line) => `> ${line}`).join("\n")}
    >
    > kill_all=all
    ${allowed === "allowed" ? "< 200 text/html; charset=utf-8" : "< 403 text/plain"}
    <
    < {any}
  `,
  );

describe("Sec-Fetch-Site", () => {
  post(transcript, "neither header: not a browser", [], "allowed");
  for (const value of ["same-origin", "none"])
    post(transcript, `${value} is allowed`, [`Sec-Fetch-Site: ${value}`], "allowed");
  for (const value of ["cross-site", "same-site", "what-ever"])
    post(transcript, `${value} is 403`, [`Sec-Fetch-Site: ${value}`], "forbidden");
});

describe("Origin", () => {
  post(transcript, "the request's own", ["Origin: http://localhost"], "allowed");
  post(
    transcript,
    "the request's own with its port",
    ["Host: localhost:8080", "Origin: http://localhost:8080"],
    "allowed",
  );
  post(transcript, "a default port written out", ["Host: localhost:80", "Origin: http://localhost"], "allowed");
  post(transcript, "another host", ["Origin: http://evil.example"], "forbidden");
  post(transcript, "another port", ["Host: localhost:8080", "Origin: http://localhost:8081"], "forbidden");
  post(transcript, "another scheme", ["Host: localhost", "Origin: https://localhost"], "forbidden");
  post(transcript, "null", ["Origin: null"], "forbidden");
  post(transcript, "what is no origin at all", ["Origin: x"], "forbidden");
  post(
    transcript,
    "another origin, though Sec-Fetch-Site says same-origin",
    ["Sec-Fetch-Site: same-origin", "Origin: http://evil.example"],
    "forbidden",
  );
  post(
    transcript,
    "forwarded headers do not count while trustProxy is off",
    ["X-Forwarded-Host: evil.example", "Origin: http://evil.example"],
    "forbidden",
  );
});

describe("every request that changes something", () => {
  for (const [method, path] of [
    ["POST", "/rest/seed/topp:states.json"],
    ["POST", "/rest/seed/topp:states"],
    ["POST", "/rest/masstruncate"],
    ["POST", "/geowebcache/masstruncate"],
    ["PUT", "/rest/diskquota.json"],
    ["POST", "/rest/reload"],
    ["DELETE", "/rest/seed"],
    ["POST", "/rest/nothing"],
  ])
    transcript(
      `${method} ${path} from another site is 403, before path, method, layer and body`,
      `\n> ${method} ${path}\n> Sec-Fetch-Site: cross-site\n>\n> rubbish\n< 403 text/plain\n<\n< {line}`,
    );
  transcript(
    "under /api it is a problem",
    '\n> POST /api/v1/jobs\n> Origin: http://evil.example\n>\n> x\n< 403 application/problem+json\n<\n< {any}"status":403{any}',
  );
  transcript(
    "a GET from anywhere changes nothing and is answered",
    `
    > GET /rest/seed.json
    > Origin: http://evil.example
    > Sec-Fetch-Site: cross-site
    < 200 application/json
    <
    < {"long-array-array":[{any}]}
  `,
  );
});

describe("behind a proxy", () => {
  post(
    proxied.transcript,
    "the forwarded scheme and host are the request's own",
    [
      "Host: 127.0.0.1:8080",
      "X-Forwarded-Host: maps.example",
      "X-Forwarded-Proto: https",
      "Origin: https://maps.example",
    ],
    "allowed",
  );
  post(
    proxied.transcript,
    "the inner host is not",
    [
      "Host: 127.0.0.1:8080",
      "X-Forwarded-Host: maps.example",
      "X-Forwarded-Proto: https",
      "Origin: http://127.0.0.1:8080",
    ],
    "forbidden",
  );
  post(
    proxied.transcript,
    "an allowed origin is allowed, cross-site or not",
    ["Origin: https://console.example", "Sec-Fetch-Site: cross-site"],
    "allowed",
  );
  post(
    proxied.transcript,
    "an origin that begins like an allowed one is not",
    ["Origin: https://console.example.evil.example"],
    "forbidden",
  );
  proxied.transcript(
    "the href of masstruncate names the forwarded scheme and host",
    `
    > GET /geowebcache/rest/masstruncate
    > X-Forwarded-Host: maps.example
    > X-Forwarded-Proto: https
    < 200 application/xml
    <
    < <massTruncateRequests href="https://maps.example/geowebcache/rest/masstruncate">{any}
  `,
  );
});
