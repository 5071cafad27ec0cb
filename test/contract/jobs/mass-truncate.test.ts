import { expect, test } from "vitest";
import { usage } from "../../support/server/server.ts";
import { until } from "../../support/until.ts";
import { contractServer, KILL_ALL } from "../contract-server.ts";
import { layers } from "../layers.ts";

// `docs/reference/wire-format.md`, Mass truncate.
const { transcript, at } = contractServer({
  configuration: (url) => layers(url, 'server: { allowedOrigins: ["http://example.org:81", "http://example.net"] }'),
  before: KILL_ALL,
});

const TYPES = ["truncateLayer", "truncateParameters", "truncateOrphans", "truncateExtent", "truncateAll"]
  .map((type) => `<requestType>${type}</requestType>`)
  .join("");
const listed = (sentence: string, path: string, headers: string, href: string): void =>
  transcript(
    sentence,
    `
    > GET ${path}
    ${headers}
    < 200 application/xml
    <
    < <massTruncateRequests href="${href}">${TYPES}</massTruncateRequests>
  `,
  );
listed(
  "GET lists truncateLayer first, then the other types, with an absolute href",
  "/rest/masstruncate",
  "",
  "http://localhost/rest/masstruncate",
);
listed("directly under the base URL too", "/masstruncate", "", "http://localhost/masstruncate");
listed(
  "the href names the host and the mount of the request, without query and .xml",
  "/geowebcache/rest/masstruncate.xml?x=1&y=%3C",
  "> Host: example.org:81",
  "http://example.org:81/geowebcache/rest/masstruncate",
);
listed(
  "a GET labelled text/xml, as GWC's documentation has it",
  "/rest/masstruncate",
  "> Content-Type: text/xml",
  "http://localhost/rest/masstruncate",
);
listed(
  "forwarded headers do not count while trustProxy is off",
  "/masstruncate",
  "> X-Forwarded-Host: evil.example\n> X-Forwarded-Proto: https",
  "http://localhost/masstruncate",
);

listed(
  "an absolute target counts more than Host",
  "http://example.org:82/geowebcache/masstruncate",
  "> Host: example.net",
  "http://example.org:82/geowebcache/masstruncate",
);
listed(
  "a host that is none is not repeated: the address of the connection stands for it",
  "http://a;b/masstruncate",
  "> Host: localhost",
  "http://127.0.0.1:{int}/masstruncate",
);

const LAYER = "<truncateLayer><layerName>ws:roads</layerName></truncateLayer>";
const truncates = (sentence: string, path: string, headers: string, body: string): void =>
  transcript(
    sentence,
    `
    > POST ${path}
    ${headers}
    >
    > ${body.replaceAll("\n", "\n> ")}
    < 200 text/plain
    < Content-Length: 0
  `,
  );
for (const type of [
  "text/xml",
  "application/xml",
  "text/xml; charset=UTF-8",
  "application/x-www-form-urlencoded",
  "application/json",
  "{absent}",
])
  truncates(`truncateLayer under Content-Type ${type}`, "/rest/masstruncate", `> Content-Type: ${type}`, LAYER);
truncates("truncateLayer directly under the base URL", "/masstruncate", "", LAYER);
truncates("truncateLayer at .xml, under a mount", "/geowebcache/rest/masstruncate.xml", "", LAYER);
truncates(
  "a prefix and a namespace",
  "/masstruncate",
  "",
  '<g:truncateLayer xmlns:g="urn:g"><g:layerName>ws:roads</g:layerName></g:truncateLayer>',
);
truncates(
  "CDATA, comments and a declaration",
  "/masstruncate",
  "",
  '<?xml version="1.0" encoding="UTF-8"?>\n<!-- all --><truncateLayer>\n  <layerName><![CDATA[ws:roads]]></layerName>\n</truncateLayer>\n',
);
truncates(
  "a name beyond ASCII",
  "/masstruncate",
  "",
  "<truncateLayer><layerName>lä yer.v1</layerName></truncateLayer>",
);
truncates(
  "JSON when the body is JSON",
  "/rest/masstruncate",
  "> Content-Type: text/xml",
  '{"truncateLayer":{"layerName":"ws:roads"}}',
);
truncates(
  "a document percent-encoded as a form",
  "/rest/masstruncate",
  "> Content-Type: application/x-www-form-urlencoded",
  "%3CtruncateLayer%3E%3ClayerName%3Ews%3Aroads%3C%2FlayerName%3E%3C%2FtruncateLayer%3E=",
);
truncates(
  "truncateOrphans with nothing to purge",
  "/masstruncate",
  "",
  "<truncateOrphans><layerName>ws:roads</layerName></truncateOrphans>",
);
truncates(
  "truncateParameters",
  "/masstruncate",
  "",
  "<truncateParameters><layerName>ws:roads</layerName><parameters><entry><string>STYLES</string><string>a</string></entry></parameters></truncateParameters>",
);
transcript(
  "truncateExtent is a truncate job, answered once it is accepted",
  `
  > POST /masstruncate
  >
  > <truncateExtent><layerName>ws:roads</layerName><gridSetId>EPSG:4326</gridSetId><bounds><coords><double>0</double><double>0</double><double>9</double><double>9</double></coords></bounds></truncateExtent>
  < 200 text/plain
  < X-Job-Id: {id:job}
  ~ GET /api/v1/jobs/{id:job}
  < 200 application/json
  <
  < {"id":{id:job},"layer":"ws:roads","type":"truncate","gridSet":"EPSG:4326","format":null,"parameters":null,"bounds":[0,0,9,9],{any}"state":"done"{any}"tasks":[{id}],{any}
`,
);

const refused = (sentence: string, body: string, answer: string, path = "/rest/masstruncate"): void =>
  transcript(
    sentence,
    `
    > POST ${path}
    > Content-Type: text/xml
    >
    > ${body}
    < 400 text/plain
    <
    < ${answer.replaceAll("\n", "\n< ")}
  `,
  );
refused(
  "an unknown layer is refused in both clients' words",
  "<truncateLayer><layerName>no:such</layerName></truncateLayer>",
  "Unknown layer: no:such\nCould not find layer no:such",
);
refused("no layerName", "<truncateLayer/>", "layerName: {any}");
refused("an empty layerName", "<truncateLayer><layerName></layerName></truncateLayer>", "layerName: {any}");
refused("a blank layerName", "<truncateLayer><layerName>  </layerName></truncateLayer>", "layerName: {any}");
refused(
  "a layerName given twice",
  "<truncateLayer><layerName>ws:roads</layerName><layerName>x/y</layerName></truncateLayer>",
  "layerName: {any}",
);
refused(
  "a layername in another case",
  "<truncateLayer><layername>ws:roads</layername></truncateLayer>",
  "layername: {any}layerName{any}",
);
refused(
  "an unknown type lists the known ones",
  "<truncateFoo><layerName>ws:roads</layerName></truncateFoo>",
  "{line}truncateLayer{any}truncateFoo{any}",
);
const ofEach = (body: string, answer: string): string => `
  > POST /rest/masstruncate
  > Content-Type: text/xml
  >
  > ${body}
  ${answer}
  > GET /api/v1/truncations?layer=ws:roads&limit=1
  < 200 application/json
  <
  < {any}"layer":"ws:roads","type":"truncateLayer","mode":"hard"{any}
  > GET /api/v1/truncations?layer=x%2Fy&limit=1
  < 200 application/json
  <
  < {any}"layer":"x/y","type":"truncateLayer","mode":"hard"{any}
`;
transcript(
  "truncateAll truncates every layer, each as a truncation of its own",
  ofEach(
    "<truncateAll> </truncateAll>",
    '< 200 text/plain\n  < Link: <http://localhost/api/v1/truncations>; rel="monitor"',
  ),
);
transcript(
  "truncateAll as GeoWebCache's form is answered with a page",
  ofEach(
    "%3CtruncateAll%3E=%3C%2FtruncateAll%3E",
    "< 200 text/html; charset=utf-8\n  <\n  < {any}Truncated Layers:ws:roads,{any}",
  ),
);
refused("truncateAll as JSON", '{"truncateAll":{}}', "truncateAll: expected <truncateAll/>{line}got JSON{line}");
refused(
  "truncateAll with a layer",
  "<truncateAll><layerName>ws:roads</layerName></truncateAll>",
  "truncateAll: {line}",
);
refused("truncateOrphans without a layer", "<truncateOrphans/>", "layerName: {any}");
refused(
  "truncateParameters without parameters",
  "<truncateParameters><layerName>ws:roads</layerName></truncateParameters>",
  "parameters: {any}",
);
refused(
  "truncateExtent without a grid set",
  "<truncateExtent><layerName>ws:roads</layerName></truncateExtent>",
  "gridSetId: expected one of EPSG:900913, EPSG:4326{any}",
);
refused(
  "truncateExtent of an unknown grid set",
  "<truncateExtent><layerName>ws:roads</layerName><gridSetId>X</gridSetId></truncateExtent>",
  "gridSetId: expected one of EPSG:900913, EPSG:4326{any}",
);
refused(
  "truncateExtent outside the coverage",
  "<truncateExtent><layerName>x/y</layerName><gridSetId>EPSG:4326</gridSetId><bounds><coords><double>-9</double><double>-9</double><double>-1</double><double>-1</double></coords></bounds></truncateExtent>",
  "bounds: expected {any}",
);
refused("malformed XML", "<truncateLayer><layerName>ws:roads", "{line}line 1{any}");
refused(
  "a DOCTYPE",
  "<!DOCTYPE a><truncateLayer><layerName>ws:roads</layerName></truncateLayer>",
  "{line}DOCTYPE{any}",
);
refused(
  "JSON of two types",
  '{"truncateLayer":{"layerName":"ws:roads"},"truncateOrphans":{"layerName":"ws:roads"}}',
  "{any}",
);
transcript(
  "a request that names no layer but in a stray query parameter clears nothing",
  `
  > POST /rest/masstruncate?layer=ws:roads&workspace=ws
  < 400 text/plain
  <
  < Expected a mass truncate request{any}
  > POST /rest/masstruncate?workspace=ws
  > Content-Length: 0
  < 400 text/plain
  <
  < {any}
`,
);

test("truncateLayer clears every grid set, format and parameter set for readers when it is answered, and leaves other layers", async () => {
  const server = at();
  const paths = [
    "/xyz/ws:roads/2/1/1.png",
    "/xyz/ws:roads/2/1/1.jpeg",
    "/xyz/ws:roads/EPSG:4326/2/3/1.png",
    "/xyz/ws:roads/2/1/1.png?STYLES=a",
  ];
  const results = (all: readonly string[]) =>
    Promise.all(
      all.map(async (path) => {
        const response = await fetch(server.url + path);
        await response.arrayBuffer();
        return `${response.status} ${response.headers.get("geowebcache-cache-result")}`;
      }),
    );
  await results([...paths, "/xyz/a+b/2/1/1.png"]);
  expect(await results(paths)).toEqual(paths.map(() => "200 HIT"));
  const response = await fetch(`${server.url}/rest/masstruncate`, {
    method: "POST",
    headers: { "Content-Type": "text/xml" },
    body: LAYER,
  });
  expect([response.status, await response.text()]).toEqual([200, ""]);
  const after = await usage(server);
  expect(after.layers.find((l) => l.layer === "ws:roads")).toMatchObject({ tiles: 0, bytes: 0 });
  const other = await results(["/xyz/a+b/2/1/1.png"]);
  expect(other).toEqual(["200 HIT"]);
  expect((await results(paths)).filter((r) => r === "200 HIT")).toEqual([]);
});

test("a running seed goes on after a mass truncate and stores into the emptied cache", async () => {
  const server = at();
  const response = await fetch(`${server.url}/rest/seed/ws:roads.json`, {
    method: "POST",
    body: '{"seedRequest":{"gridSetId":"EPSG:4326","format":"image/jpeg","type":"reseed","zoomStop":4}}',
  });
  const id = response.headers.get("x-job-id");
  expect((await fetch(`${server.url}/rest/masstruncate`, { method: "POST", body: LAYER })).status).toBe(200);
  const job = await until("the seed is done", async () => {
    const now = await (await fetch(`${server.url}/api/v1/jobs/${id}`)).json();
    return JSON.stringify(now).includes('"state":"done"') ? JSON.stringify(now) : undefined;
  });
  expect(job).toContain('"outcome":"done"');
});
