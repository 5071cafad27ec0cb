import { describe } from "vitest";
import { contractServer } from "../contract-server.ts";

// `docs/how-to/reverse-proxy.md`: links contain the values that a proxy reports, and not the values that a client
// invents.
const { transcript } = contractServer({
  configuration: () =>
    "server: { trustProxy: true, memoryTierMiB: 0 }\nlayers:\n  - { name: a, source: { type: demo, dataset: states } }\n",
});
const untrusted = contractServer({
  configuration: () =>
    "server: { trustProxy: [192.0.2.1, 2001:db8::/32] }\nlayers:\n  - { name: a, source: { type: demo, dataset: states } }\n",
});

const PROXY = `> Host: 127.0.0.1:8080
    > X-Forwarded-Host: maps.example:8443
    > X-Forwarded-Proto: https
    > X-Forwarded-Prefix: /tiles/`;
const OURS = "https://maps.example:8443/tiles";

describe("links carry scheme, host and prefix of the proxy:", () => {
  for (const [path, type, body] of [
    ["/service/wmts?REQUEST=GetCapabilities", "{any}", `"${OURS}/service/wmts`],
    ["/service/wms?REQUEST=GetCapabilities&SERVICE=WMS", "{any}", `"${OURS}/service/wms`],
    ["/service/tms/1.0.0", "{any}", `href="${OURS}/service/tms/1.0.0/`],
    ["/tilejson/a", "application/json", `["${OURS}/xyz/a/EPSG%3A900913/{z}/{x}/{y}.png"]`],
    ["/ogc", "application/json", `"${OURS}/ogc`],
    ["/geowebcache/tilejson/a", "application/json", `["${OURS}/geowebcache/xyz/a/EPSG%3A900913/{z}/{x}/{y}.png"]`],
    ["/api/v1/openapi.json", "application/json", `"${OURS}/api/v1"`],
    ["/rest/masstruncate", "application/xml", `href="${OURS}/rest/masstruncate"`],
    ["/geowebcache/rest/masstruncate", "application/xml", `href="${OURS}/geowebcache/rest/masstruncate"`],
    ["/", "text/html; charset=utf-8", 'src="/tiles/assets/ui/console-'],
  ] as const)
    transcript(
      path,
      `
      > GET ${path}
      ${PROXY}
      < 200 ${type}
      <
      < {any}${body}{any}
    `,
    );
  transcript(
    "the Link of a job, and the Origin is the proxy's",
    `
    > POST /geowebcache/rest/seed/a.json
    ${PROXY}
    > Origin: https://maps.example:8443
    >
    > {"seedRequest":{"zoomStart":0,"zoomStop":0}}
    < 200 text/plain
    < Link: <${OURS}/geowebcache/api/v1/jobs/{id:job}>; rel="monitor"
  `,
  );
  transcript(
    "a page of this server in a refusal",
    `
    > GET /rest/seed
    ${PROXY}
    > Accept: text/html
    < 405 text/html; charset=utf-8
    <
    < {any}<a href="/tiles/">{any}
  `,
  );
  transcript(
    "with the header of RFC 7239",
    `
    > GET /tilejson/a
    > Forwarded: for=192.0.2.7;proto=https;host="maps.example:8443"
    > X-Forwarded-Prefix: /tiles
    < 200 application/json
    <
    < {any}["${OURS}/xyz/a/EPSG%3A900913/{z}/{x}/{y}.png"]{any}
  `,
  );
});

describe("what is not valid is in no link:", () => {
  for (const header of [
    "X-Forwarded-Host: evil.example, localhost",
    "X-Forwarded-Host: localhost, evil.example",
    "X-Forwarded-Host: evil.example\n> X-Forwarded-Host: localhost",
    'X-Forwarded-Host: evil.example"><script>',
    "X-Forwarded-Host: evil.example/'",
    "X-Forwarded-Host: user@evil.example",
    "X-Forwarded-Proto: https, http",
    "X-Forwarded-Proto: javascript",
    "X-Forwarded-Prefix: //evil.example",
    "X-Forwarded-Prefix: /\\evil.example",
    "X-Forwarded-Prefix: https://evil.example",
    'X-Forwarded-Prefix: /evil"x',
    "X-Forwarded-Prefix: /evil, /b",
    "X-Forwarded-Prefix: /evil/../b",
    'Forwarded: host=evil.example, proto="',
    "Forwarded: host=localhost;host=evil.example",
    'Forwarded: host="evil.example/"',
    "X-Forwarded-For: 192.0.2.7\n> Forwarded: host=evil.example",
  ])
    transcript(
      header.replace("\n> ", " and "),
      `\n> GET /tilejson/a\n> ${header}\n< 200 application/json\n<\n< {any}["http://localhost/xyz/a/EPSG%3A900913/{z}/{x}/{y}.png"]{any}`,
    );
});

untrusted.transcript(
  "the headers of a connection from another address than the listed ones do not count",
  `
  > GET /tilejson/a
  ${PROXY}
  > Forwarded: host=evil.example
  < 200 application/json
  <
  < {any}["http://127.0.0.1:8080/xyz/a/EPSG%3A900913/{z}/{x}/{y}.png"]{any}
`,
);

describe("the 403 of another origin names what was compared and the key to set:", () => {
  const refused = (sentence: string, of: typeof transcript, headers: readonly string[], text: string, charset = "") =>
    of(
      sentence,
      `
      > POST /rest/seed
      ${headers.map((header) => `> ${header}`).join("\n")}
      >
      > kill_all=all
      < 403 text/plain${charset}
      <
      < Requests from another site's page may not change anything here. ${text}
    `,
    );
  const open = contractServer();
  const KEYS = "behind a proxy set server.trustProxy, or add the page's origin to server.allowedOrigins.";
  refused(
    "behind a TLS proxy that is not trusted",
    open.transcript,
    ["Host: localhost", "X-Forwarded-Proto: https", "Origin: https://localhost"],
    `Origin: expected "http://localhost", got "https://localhost"; ${KEYS}`,
  );
  refused(
    "behind a trusted one that reports too little",
    transcript,
    ["Host: localhost", "Origin: https://localhost"],
    `Origin: expected "http://localhost", got "https://localhost"; server.trustProxy needs X-Forwarded-Proto and X-Forwarded-Host of the proxy, or add the page's origin to server.allowedOrigins.`,
  );
  refused(
    "of the browser's own word",
    open.transcript,
    ["Sec-Fetch-Site: cross-site"],
    `Sec-Fetch-Site: expected same-origin or none, got "cross-site"; ${KEYS}`,
  );
  refused(
    "of the browser's own word beside the right origin",
    open.transcript,
    ["Sec-Fetch-Site: cross-site", "Origin: http://localhost"],
    `Sec-Fetch-Site: expected same-origin or none, got "cross-site" and Origin "http://localhost"; ${KEYS}`,
  );
  refused(
    "escaped and cut",
    open.transcript,
    [`Origin: "<b>\\{times:5000:x}`],
    `Origin: expected "http://localhost", got "\\"<b>\\\\${"x".repeat(190)}{line}…; ${KEYS}`,
    "; charset=utf-8",
  );
});
