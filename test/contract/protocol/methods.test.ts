import { describe } from "vitest";
import { contractServer } from "../contract-server.ts";

// `docs/reference/wire-format.md`, Addresses (405, Allow, HEAD, OPTIONS).
const { transcript } = contractServer();

/** Every resource of the contract, and its allowed methods. */
const RESOURCES: readonly (readonly [path: string, allow: string])[] = [
  ["/rest/seed/topp:states.xml", "GET, HEAD, POST, OPTIONS"],
  ["/rest/seed/topp:states.json", "GET, HEAD, POST, OPTIONS"],
  ["/rest/seed/img%20states.xml", "GET, HEAD, POST, OPTIONS"],
  ["/rest/seed/no:such.json", "GET, HEAD, POST, OPTIONS"],
  ["/rest/seed.json", "GET, HEAD, OPTIONS"],
  ["/rest/seed.xml", "GET, HEAD, OPTIONS"],
  ["/rest/seed", "POST, OPTIONS"],
  ["/rest/seed/topp:states", "POST, OPTIONS"],
  ["/rest/seed/no:such", "POST, OPTIONS"],
  ["/masstruncate", "GET, HEAD, POST, OPTIONS"],
  ["/rest/masstruncate", "GET, HEAD, POST, OPTIONS"],
  ["/rest/masstruncate.xml", "GET, HEAD, POST, OPTIONS"],
  ["/diskquota.xml", "GET, HEAD, PUT, OPTIONS"],
  ["/rest/diskquota.json", "GET, HEAD, PUT, OPTIONS"],
  ["/rest/diskquota", "GET, HEAD, PUT, OPTIONS"],
  ["/rest/reload", "POST, OPTIONS"],
  ["/metrics", "GET, HEAD, OPTIONS"],
  ["/geowebcache/metrics", "GET, HEAD, OPTIONS"],
  ["/geowebcache/rest/seed.json", "GET, HEAD, OPTIONS"],
  ["/geowebcache/diskquota.json", "GET, HEAD, PUT, OPTIONS"],
];

for (const [path, allow] of RESOURCES) {
  describe(path, () => {
    for (const method of ["GET", "POST", "PUT", "DELETE", "PATCH", "TRACE"]) {
      if (allow.split(", ").includes(method)) continue;
      transcript(
        `${method} ${path} is 405 whatever the body, and names the methods`,
        `
        > ${method} ${path}
        ${method === "TRACE" ? "" : "> Content-Type: text/xml\n>\n> <rubbish"}
        < 405 text/plain
        < Allow: ${allow}
        <
        < {line}${method}{line}${allow}{any}
      `,
      );
    }
    if (!allow.includes("HEAD"))
      transcript(`HEAD ${path} is 405 without a body`, `\n> HEAD ${path}\n< 405 text/plain\n< Allow: ${allow}`);
    transcript(
      `OPTIONS ${path} is 200, empty, with Allow`,
      `\n> OPTIONS ${path}\n< 200\n< Allow: ${allow}\n< Content-Length: 0`,
    );
  });
}

for (const [path, type] of [
  ["/rest/seed.json", "application/json"],
  ["/rest/seed/topp:states.xml", "application/json"],
  ["/rest/diskquota.xml", "text/xml"],
  ["/diskquota.json", "application/json"],
  ["/rest/masstruncate", "application/xml"],
  ["/api/v1/jobs", "application/json"],
  ["/livez", "text/plain"],
  ["/", "text/html; charset=utf-8"],
])
  transcript(`HEAD ${path} is as GET, without the body`, `\n> HEAD ${path}\n< 200 ${type}\n< Content-Length: {id}`);

transcript(
  "HEAD of an unknown layer has the status of GET",
  "\n> HEAD /rest/seed/no:such.json\n< 400 text/plain\n< Content-Length: {id}",
);
transcript(
  "the API's 405 is a problem",
  `
  > DELETE /api/v1/usage
  < 405 application/problem+json
  < Allow: GET, HEAD, OPTIONS
  <
  < {"type":"about:blank",{any}"status":405,"detail":"{any}GET, HEAD, OPTIONS{any}"code":"method_not_allowed"}
  > OPTIONS /api/v1/usage
  < 200
  < Allow: GET, HEAD, OPTIONS
`,
);
transcript("OPTIONS of a path that is not there is 404", "\n> OPTIONS /rest/nothing\n< 404 text/plain\n<\n< {any}");
