import { afterAll, beforeAll, describe } from "vitest";
import { startServer, type TestServer } from "../support/server.ts";
import { startUpstream, type Upstream } from "../support/upstream.ts";
import { wmsConfiguration } from "../support/wms-configuration.ts";
import { type Case, contract } from "./raw.ts";

let server: TestServer;
let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
  server = await startServer({
    configuration: wmsConfiguration(upstream.url, [
      { name: "ws:roads", extra: 'parameterFilters: [{ type: string, key: STYLES, default: "", values: [a, b] }]' },
      {
        name: "lä yer.v1",
        gridSubsets: "[{ gridSet: EPSG:900913, zoomStart: 2, zoomStop: 5 }, { gridSet: WebMercatorQuad }]",
      },
      { name: "x/y" },
    ]),
  });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

const xml = (fields: string, root = "seedRequest") =>
  `POST /rest/seed/ws:roads.xml\nContent-Type: text/xml\n\n<${root}>${fields}</${root}>`;
const json = (fields: string) =>
  `POST /rest/seed/ws:roads.json\nContent-Type: application/json\n\n{"seedRequest":{${fields}}}`;
const Z = "<zoomStart>0</zoomStart><zoomStop>0</zoomStop>";
const accepted = (name: string, request: string): Case => ({
  name: `accepted: ${name}`,
  request,
  status: 200,
  type: "text/plain",
  body: "",
  headers: {
    "x-job-id": /^\d+$/,
    link: /^<http:\/\/localhost\/api\/v1\/jobs\/\d+>; rel="monitor"$/,
    "cache-control": "no-store",
  },
});
const refused = (name: string, request: string, body: RegExp): Case => ({
  name: `refused: ${name}`,
  request,
  status: 400,
  type: "text/plain",
  body,
});

describe("seed requests", () =>
  contract(
    () => server,
    [
      accepted("nothing but the zooms", xml(Z)),
      accepted("JSON", json('"zoomStart":0,"zoomStop":0')),
      accepted("numbers as strings with blanks", json('"zoomStart":" 0 ","zoomStop":"00"')),
      accepted("another name in the body", xml(`<name>other</name>${Z}`)),
      accepted("unknown elements and filterUpdate", xml(`${Z}<filterUpdate>true</filterUpdate><more><x/></more>`)),
      accepted(
        "a namespace and a prefix on the root",
        `POST /rest/seed/ws:roads.xml\n\n<g:seedRequest xmlns:g="urn:x">${Z}</g:seedRequest>`,
      ),
      accepted(
        "a declaration, comments, CDATA, leading white space",
        `POST /rest/seed/ws:roads.xml\n\n  <?xml version="1.0" encoding="UTF-8"?>\n<!-- c --><seedRequest><type><![CDATA[seed]]></type>${Z}</seedRequest>`,
      ),
      accepted(
        "XML labelled JSON",
        `POST /rest/seed/ws:roads.xml\nContent-Type: application/json\n\n<seedRequest>${Z}</seedRequest>`,
      ),
      accepted(
        "XML on .json: the first character wins",
        `POST /rest/seed/ws:roads.json\n\n<seedRequest>${Z}</seedRequest>`,
      ),
      accepted("no Content-Type", `POST /rest/seed/ws:roads.json\n\n{"seedRequest":{"zoomStart":0,"zoomStop":0}}`),
      accepted(
        "single quotes, escaped slash, surplus braces",
        `POST /rest/seed/ws:roads.json\n\n{'seedRequest':{'zoomStart':0,'zoomStop':'0','format':'image\\/png'}}}`,
      ),
      accepted(
        "without extension, labelled XML",
        `POST /rest/seed/ws:roads\nContent-Type: text/xml\n\n<seedRequest>${Z}</seedRequest>`,
      ),
      accepted("types in any case", xml(`${Z}<type>SEED</type>`)),
      accepted("srs 3857 for EPSG:900913", xml(`${Z}<srs><number>3857</number></srs>`)),
      accepted("srs as text", xml(`${Z}<srs>EPSG:4326</srs>`)),
      accepted("srs 0: not given", json('"srs":{"number":0},"zoomStop":0')),
      accepted(
        "zoomStop too high is reduced",
        xml("<zoomStart>30</zoomStart><zoomStop>99</zoomStop><type>truncate</type><gridSetId>EPSG:900913</gridSetId>"),
      ),
      accepted("threadCount 0, negative, huge", xml(`${Z}<threadCount>-3</threadCount>`)),
      accepted("threadCount far above the cap", xml(`${Z}<threadCount>100000</threadCount>`)),
      accepted(
        "parameters as entries",
        xml(`${Z}<parameters><entry><string>STYLES</string><string>a</string></entry></parameters>`),
      ),
      accepted(
        "parameters as a list of entries",
        json('"zoomStop":0,"parameters":{"entry":[{"string":["styles","b"]}]}'),
      ),
      accepted("parameters as one entry", json('"zoomStop":0,"parameters":{"entry":{"string":["STYLES","a"]}}')),
      accepted("parameters as pairs", json('"zoomStop":0,"parameters":[["STYLES","a"]]')),
      accepted("parameters as a plain object", json('"zoomStop":0,"parameters":{"STYLES":"a"}')),
      accepted("empty parameters", xml(`${Z}<parameters><![CDATA[]]></parameters>`)),
      accepted("null is absent", json('"zoomStart":null,"zoomStop":0,"bounds":null,"format":null')),
      accepted("-1 in a failure field means the default", xml(`${Z}<tileFailureRetryCount>-1</tileFailureRetryCount>`)),
      accepted(
        "a truncate of parameters that no filter knows",
        xml("<type>truncate</type><parameters><entry><string>TIME</string><string>2020</string></entry></parameters>"),
      ),
      accepted("a truncate with nothing but its type", xml("<type>truncate</type>")),
      accepted(
        "bounds",
        xml(
          `${Z}<bounds><coords><double>-100</double><double>-100</double><double>100</double><double>100</double></coords></bounds>`,
        ),
      ),
      refused("unknown type", xml(`${Z}<type>truncat</type>`), /type.*seed, reseed.*truncat/s),
      refused("unknown grid set", xml(`${Z}<gridSetId>EPSG:1</gridSetId>`), /gridSetId.*EPSG:900913, EPSG:4326/),
      refused("unknown srs", xml(`${Z}<srs><number>2056</number></srs>`), /srs.*EPSG:900913/),
      refused(
        "format not offered",
        xml(`${Z}<format>image/gif</format>`),
        /format.*image\/png, image\/jpeg.*image\/gif/,
      ),
      refused("start above stop", xml("<zoomStart>3</zoomStart><zoomStop>1</zoomStop>"), /^zoomStart/),
      refused("negative zoom", xml("<zoomStart>-1</zoomStart>"), /^zoomStart.*-1/),
      refused("nothing left of the zooms", xml("<zoomStart>50</zoomStart><zoomStop>60</zoomStop>"), /^zoomStart/),
      refused("hexadecimal", xml("<zoomStart>0x10</zoomStart>"), /zoomStart.*0x10/),
      refused("a float", xml("<zoomStart>1.5</zoomStart>"), /zoomStart.*1\.5/),
      refused(
        "inverted bounds",
        xml(
          `${Z}<bounds><coords><double>5</double><double>0</double><double>1</double><double>9</double></coords></bounds>`,
        ),
        /bounds.*20037508\.34.*5\.0,0\.0,1\.0,9\.0/s,
      ),
      refused(
        "bounds outside",
        xml(
          `${Z}<bounds><coords><double>3e7</double><double>3e7</double><double>4e7</double><double>4e7</double></coords></bounds>`,
        ),
        /bounds.*-20037508\.34/s,
      ),
      refused(
        "three bounds",
        xml(`${Z}<bounds><coords><double>5</double><double>0</double><double>1</double></coords></bounds>`),
        /bounds/,
      ),
      refused("bounds that are no numbers", json('"bounds":{"coords":{"double":["a","b","c","d"]}}'), /bounds/),
      refused(
        "a truncate with bounds but without grid set",
        xml(
          "<type>truncate</type><bounds><coords><double>0</double><double>0</double><double>1</double><double>1</double></coords></bounds>",
        ),
        /gridSetId/,
      ),
      refused(
        "unknown parameter when seeding",
        xml(`${Z}<parameters><entry><string>TIME</string><string>1</string></entry></parameters>`),
        /STYLES/,
      ),
      refused(
        "illegal parameter value when seeding",
        xml(`${Z}<parameters><entry><string>STYLES</string><string>zz</string></entry></parameters>`),
        /STYLES.*"a".*"b".*zz/,
      ),
      refused("wrong case of a field", xml("<zoomstop>1</zoomstop>"), /zoomstop/),
      refused("a duplicate field", xml("<zoomStart>1</zoomStart><zoomStart>2</zoomStart>"), /zoomStart/),
      refused("a duplicate key", json('"zoomStart":1,"zoomStart":2'), /zoomStart/),
      refused(
        "a DOCTYPE",
        `POST /rest/seed/ws:roads.xml\n\n<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><seedRequest>&e;</seedRequest>`,
        /DOCTYPE/i,
      ),
      refused("wrong root", xml(Z, "foo"), /seedRequest/),
      refused("an empty body", "POST /rest/seed/ws:roads.xml\n\n", /seedRequest/),
      refused("malformed XML", "POST /rest/seed/ws:roads.xml\n\n<seedRequest><zoom", /line 1/),
      refused("malformed JSON", 'POST /rest/seed/ws:roads.json\n\n{"seedRequest":{', /line 1/),
      refused("a JSON array", "POST /rest/seed/ws:roads.json\n\n[1]", /seedRequest/),
      refused("plain text", "POST /rest/seed/ws:roads.json\n\nhello", /./),
      refused(
        "an unknown layer",
        `POST /rest/seed/nope.xml\n\n<seedRequest>${Z}</seedRequest>`,
        /^Unknown layer: nope/,
      ),
      refused(
        "an srs that several grid sets have",
        `POST /rest/seed/l%C3%A4%20yer.v1.xml\n\n<seedRequest><srs><number>900913</number></srs></seedRequest>`,
        /EPSG:900913, WebMercatorQuad/,
      ),
      refused(
        "an empty labelled seed request without extension",
        "POST /rest/seed/ws:roads\nContent-Type: application/json\n\n",
        /./,
      ),
      accepted(
        "dots, blanks, umlauts in a name",
        `POST /rest/seed/l%C3%A4%20yer.v1.xml\n\n<seedRequest><gridSetId>EPSG:900913</gridSetId><zoomStop>2</zoomStop></seedRequest>`,
      ),
      accepted("a slash in a name", `POST /rest/seed/x%2Fy.json\n\n{"seedRequest":{"zoomStop":0}}`),
      {
        name: "a form with type and zooms is a seed request",
        request:
          "POST /rest/seed/ws:roads\nContent-Type: application/x-www-form-urlencoded\n\nthreadCount=1&type=seed&gridSetId=EPSG%3A900913&tileFormat=image%2Fpng&zoomStart=0&zoomStop=0&minX=&minY=&maxX=&maxY=",
        status: 200,
        type: "text/html; charset=utf-8",
      },
      refused(
        "a form with fewer fields",
        "POST /rest/seed/ws:roads\nContent-Type: application/x-www-form-urlencoded\n\ntype=seed",
        /kill_all/,
      ),
    ],
  ));

const kill = (name: string, request: string, status: number, body: RegExp): Case => ({
  name: `kill: ${name}`,
  request,
  status,
  type: status === 200 ? "text/html; charset=utf-8" : "text/plain",
  body,
});
describe("kill", () =>
  contract(
    () => server,
    [
      ...["all", "running", "pending", "1", "ALL", " Running "].map((value) =>
        kill(
          `kill_all=${value}`,
          `POST /rest/seed\nContent-Type: application/x-www-form-urlencoded\n\nkill_all=${value}`,
          200,
          /<!DOCTYPE html>/,
        ),
      ),
      kill(
        "as text/plain",
        "POST /rest/seed\nContent-Type: text/plain\nAccept: text/plain\n\nkill_all=all",
        200,
        /html/,
      ),
      kill("as text/xml on a layer", "POST /rest/seed/ws:roads\nContent-Type: text/xml\n\nkill_all=all", 200, /html/),
      kill("in the query", "POST /rest/seed/ws:roads?kill_all=all", 200, /html/),
      kill("without a Content-Type", "POST /rest/seed\n\nkill_all=all", 200, /html/),
      kill(
        "an unknown value",
        "POST /rest/seed\n\nkill_all=everything",
        400,
        /kill_all: expected all, running, pending or 1, got "everything"/,
      ),
      kill("nothing", "POST /rest/seed\n\n", 400, /all, running, pending/),
      kill("another key", "POST /rest/seed\n\nfoo=bar", 400, /all, running, pending/),
      kill("twice with different values", "POST /rest/seed?kill_all=running\n\nkill_all=all", 400, /kill_all/),
      kill("an unknown layer", "POST /rest/seed/nope\n\nkill_all=all", 400, /^Unknown layer: nope/),
      kill("one task that does not exist", "POST /rest/seed/ws:roads\n\nkill_thread=1&thread_id=99999", 200, /html/),
      kill("one task without a number", "POST /rest/seed/ws:roads\n\nkill_thread=1&thread_id=x", 400, /thread_id/),
    ],
  ));

describe("lists", () =>
  contract(
    () => server,
    [
      {
        name: "the list of a layer is JSON",
        request: "GET /rest/seed/x%2Fy.json",
        status: 200,
        type: "application/json",
        body: /^\{"long-array-array":\[/,
      },
      {
        name: "with .xml and no Accept it is JSON",
        request: "GET /rest/seed/x%2Fy.xml",
        status: 200,
        type: "application/json",
      },
      {
        name: "with .xml and Accept XML it is the twin",
        request: "GET /rest/seed/x%2Fy.xml\nAccept: application/xml",
        status: 200,
        type: "application/xml",
        body: /^<long-array-array/,
      },
      {
        name: "with .xml and JSON first it is JSON",
        request: "GET /rest/seed.xml\nAccept: application/json, text/xml",
        status: 200,
        type: "application/json",
      },
      {
        name: "an unknown layer is 400",
        request: "GET /rest/seed/nope.json",
        status: 400,
        type: "text/plain",
        body: "Unknown layer: nope",
      },
      {
        name: "a GET with an empty body labelled JSON is 200",
        request: "GET /rest/seed.json\nContent-Type: application/json\n\n",
        status: 200,
        type: "application/json",
      },
    ],
  ));

describe("mass truncate", () =>
  contract(
    () => server,
    [
      {
        name: "the list has truncateLayer first and an absolute href",
        request: "GET /geowebcache/rest/masstruncate.xml?x=1",
        status: 200,
        type: "application/xml",
        body: '<massTruncateRequests href="http://localhost/geowebcache/rest/masstruncate"><requestType>truncateLayer</requestType><requestType>truncateParameters</requestType><requestType>truncateOrphans</requestType><requestType>truncateExtent</requestType></massTruncateRequests>',
      },
      ...["text/xml", "application/xml", "text/xml; charset=UTF-8", "application/x-www-form-urlencoded"].map(
        (type): Case => ({
          name: `truncateLayer as ${type}`,
          request: `POST /rest/masstruncate\nContent-Type: ${type}\n\n<truncateLayer><layerName>ws:roads</layerName></truncateLayer>`,
          status: 200,
          body: "",
        }),
      ),
      {
        name: "truncateLayer without a Content-Type",
        request: "POST /masstruncate\n\n<truncateLayer><layerName>ws:roads</layerName></truncateLayer>",
        status: 200,
        body: "",
      },
      {
        name: "truncateLayer as JSON",
        request: 'POST /rest/masstruncate\n\n{"truncateLayer":{"layerName":"ws:roads"}}',
        status: 200,
        body: "",
      },
      {
        name: "truncateOrphans with nothing to purge is 200",
        request: "POST /rest/masstruncate\n\n<truncateOrphans><layerName>ws:roads</layerName></truncateOrphans>",
        status: 200,
      },
      {
        name: "truncateParameters",
        request:
          "POST /rest/masstruncate\n\n<truncateParameters><layerName>ws:roads</layerName><parameters><entry><string>STYLES</string><string>a</string></entry></parameters></truncateParameters>",
        status: 200,
      },
      {
        name: "truncateParameters without parameters is 400",
        request: "POST /rest/masstruncate\n\n<truncateParameters><layerName>ws:roads</layerName></truncateParameters>",
        status: 400,
      },
      {
        name: "truncateExtent",
        request:
          "POST /rest/masstruncate\n\n<truncateExtent><layerName>ws:roads</layerName><gridSetId>EPSG:4326</gridSetId><bounds><coords><double>0</double><double>0</double><double>9</double><double>9</double></coords></bounds></truncateExtent>",
        status: 200,
      },
      {
        name: "an unknown layer is 400 with both lines",
        request: "POST /rest/masstruncate\n\n<truncateLayer><layerName>nope</layerName></truncateLayer>",
        status: 400,
        type: "text/plain",
        body: "Unknown layer: nope\nCould not find layer nope",
      },
      { name: "no layerName is 400", request: "POST /rest/masstruncate\n\n<truncateLayer/>", status: 400 },
      {
        name: "an unknown type is 400",
        request: "POST /rest/masstruncate\n\n<truncateFoo><layerName>ws:roads</layerName></truncateFoo>",
        status: 400,
      },
      { name: "truncateAll is 400", request: "POST /rest/masstruncate\n\n<truncateAll></truncateAll>", status: 400 },
      {
        name: "a stray layer in the query is 400",
        request: "POST /rest/masstruncate?layer=ws:roads&workspace=ws\n\n",
        status: 400,
      },
      { name: "an empty body is 400", request: "POST /rest/masstruncate\n\n", status: 400 },
    ],
  ));
