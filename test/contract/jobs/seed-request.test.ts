import { describe } from "vitest";
import { contractServer, KILL_ALL } from "../contract-server.ts";
import { layers } from "../layers.ts";

// `docs/reference/wire-format.md`, Seed request and Bodies: which seed requests are refused, and with which words; after each, nothing is
// in the list.
const { transcript } = contractServer({ configuration: (url) => layers(url), hanging: true, before: KILL_ALL });

const IDLE = `
  > GET /rest/seed.json
  < 200 application/json
  <
  < {"long-array-array":[]}
`;

const refusedAt = (sentence: string, path: string, body: string, answer: string): void =>
  transcript(
    sentence,
    `
    > POST ${path}
    >
    > ${body.replaceAll("\n", "\n> ")}
    < 400 text/plain
    <
    < ${answer.replaceAll("\n", "\n< ")}
    ${IDLE}
  `,
  );
const xml = (sentence: string, fields: string, answer: string): void =>
  refusedAt(sentence, "/rest/seed/ws:roads.xml", `<seedRequest>${fields}</seedRequest>`, answer);
const json = (sentence: string, fields: string, answer: string): void =>
  refusedAt(sentence, "/rest/seed/ws:roads.json", `{"seedRequest":{${fields}}}`, answer);

describe("layer", () => {
  refusedAt(
    "an unknown layer is 400 and named in the first line",
    "/rest/seed/no:such.xml",
    "<seedRequest/>",
    "Unknown layer: no:such",
  );
  refusedAt(
    "an unknown layer is refused before the body is read",
    "/rest/seed/no:such.json",
    "rubbish",
    "Unknown layer: no:such",
  );
  transcript(
    "an unknown layer with letters beyond ASCII is named in UTF-8, and says so",
    `
    > POST /rest/seed/stra%C3%9Fe.xml
    >
    > <seedRequest/>
    < 400 text/plain; charset=utf-8
    <
    < Unknown layer: straße
  `,
  );
  refusedAt(
    "a layer name is compared with its case",
    "/rest/seed/WS:ROADS.json",
    '{"seedRequest":{}}',
    "Unknown layer: WS:ROADS",
  );
});

describe("type", () => {
  xml("an unknown type is refused, not seeded", "<type>truncat</type>", "type: expected {any}truncat{any}");
  json("a type that is a number", '"type":1', "type: expected {any}");
});

describe("grid set", () => {
  xml(
    "an unknown gridSetId lists the layer's",
    "<gridSetId>EPSG:1</gridSetId>",
    'gridSetId: expected one of EPSG:900913, EPSG:4326, got "EPSG:1"',
  );
  xml(
    "an srs that the layer does not have lists the layer's",
    "<srs><number>2056</number></srs>",
    "srs: expected {any}EPSG:900913{any}EPSG:4326{any}2056{any}",
  );
  xml("an srs that is not a number", "<srs><number>utm</number></srs>", "srs.number: expected {any}utm{any}");
  refusedAt(
    "an srs that several grid sets have lists them",
    "/rest/seed/l%C3%A4%20yer.v1.xml",
    "<seedRequest><srs><number>3857</number></srs></seedRequest>",
    "srs: expected {any}EPSG:900913, WebMercatorQuad{any}",
  );
});

describe("zooms", () => {
  xml("zoomStart above zoomStop", "<zoomStart>3</zoomStart><zoomStop>1</zoomStop>", "zoomStart: expected {any}3{any}");
  xml("a negative zoomStart", "<zoomStart>-1</zoomStart>", "zoomStart: expected {any}-1{any}");
  xml("a negative zoomStop", "<zoomStop>-1</zoomStop>", "zoomStop: expected {any}-1{any}");
  xml("no zoom left after clamping", "<zoomStart>50</zoomStart><zoomStop>60</zoomStop>", "zoomStart: expected {any}");
  xml("a hexadecimal zoom", "<zoomStart>0x10</zoomStart>", "zoomStart: expected {any}0x10{any}");
  xml("a float where an integer belongs", "<zoomStart>1.5</zoomStart>", "zoomStart: expected {any}1.5{any}");
  json("a float in JSON", '"zoomStop":2.0', "zoomStop: expected {any}2.0{any}");
  json("a boolean where an integer belongs", '"zoomStop":true', "zoomStop: expected {any}true{any}");
  json("a list where an integer belongs", '"zoomStop":[1,2]', "zoomStop: given more than once{any}");
  xml("words where a number belongs", "<threadCount>many</threadCount>", "threadCount: expected {any}many{any}");
  xml(
    "the refusal of a number names line and column",
    "\n  <zoomStop>x</zoomStop>",
    "zoomStop: expected {any}line 2, column {any}",
  );
});

describe("format", () => {
  xml(
    "a format that the layer does not offer lists those it does",
    "<format>image/gif</format>",
    'format: expected one of image/png, image/jpeg, got "image/gif"',
  );
});

const coords = (...values: (string | number)[]) =>
  `<bounds><coords>${values.map((v) => `<double>${v}</double>`).join("")}</coords></bounds>`;
describe("bounds", () => {
  xml(
    "bounds in the order minx, maxx, miny, maxy are refused, and both sides printed",
    coords(0, 100, 0, 100),
    "bounds: expected {any}20037508.34{any}0.0,100.0,0.0,100.0{any}",
  );
  xml("min equal to max", coords(5, 5, 5, 9), "bounds: expected {any}");
  xml("bounds outside the coverage", coords("3e7", "3e7", "4e7", "4e7"), "bounds: expected {any}-20037508.34{any}");
  xml("three values", coords(0, 1, 2), "bounds{any}");
  xml("five values", coords(0, 1, 2, 3, 4), "bounds{any}");
  xml("values that are no numbers", coords("a", "b", "c", "d"), "bounds{any}");
  xml("values that are not finite", coords("-Infinity", 0, "Infinity", 1), "bounds{any}");
  xml("NaN", coords("NaN", 0, 1, 1), "bounds{any}");
  xml(
    "a truncate with bounds but without grid set or srs: in whose units?",
    `<type>truncate</type>${coords(0, 0, 1, 1)}`,
    "gridSetId: expected one of EPSG:900913, EPSG:4326{any}",
  );
});

const parameter = (key: string, value: string) =>
  `<parameters><entry><string>${key}</string><string>${value}</string></entry></parameters>`;
describe("parameters", () => {
  xml("an unknown key when seeding names the known ones", parameter("TIME", "1"), "{any}STYLES{any}");
  xml("an illegal value when seeding names the legal ones", parameter("STYLES", "zz"), '{any}"a"{any}"b"{any}zz{any}');
  xml("an entry of one string", "<parameters><entry><string>STYLES</string></entry></parameters>", "parameters{any}");
  json("a parameter that is a number list", '"parameters":{"STYLES":[1,2]}', "parameters{any}");
});

describe("failure fields", () => {
  json(
    "a negative retry count that is not -1",
    '"tileFailureRetryCount":-2',
    "tileFailureRetryCount: expected {any}-2{any}",
  );
  json(
    "a wait that is no number",
    '"tileFailureRetryWaitTime":"1s"',
    "tileFailureRetryWaitTime: expected {any}1s{any}",
  );
});

describe("the document", () => {
  json("a field in another case", '"zoomstop":1', "zoomstop: {any}zoomStop{any}");
  xml("an element in another case", "<ZoomStop>1</ZoomStop>", "ZoomStop: {any}zoomStop{any}");
  xml("a duplicate element", "<zoomStart>1</zoomStart><zoomStart>1</zoomStart>", "zoomStart: {any}");
  json("a duplicate key", '"zoomStart":1,"zoomStart":1', "{line}zoomStart{any}");
  refusedAt("another root", "/rest/seed/ws:roads.xml", "<foo/>", "{line}seedRequest{line}foo{any}");
  refusedAt(
    "a DOCTYPE",
    "/rest/seed/ws:roads.xml",
    '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>\n<seedRequest><format>&e;</format></seedRequest>',
    "{line}DOCTYPE{any}",
  );
  refusedAt("malformed XML", "/rest/seed/ws:roads.xml", "<seedRequest><zoomStart>", "{line}line 1{any}");
  refusedAt("malformed JSON", "/rest/seed/ws:roads.json", '{"seedRequest":{', "{line}line 1{any}");
  refusedAt(
    "a missing closing brace",
    "/rest/seed/ws:roads.json",
    '{"seedRequest":{"zoomStop":0}',
    "{line}line 1{any}",
  );
  refusedAt("a JSON array", "/rest/seed/ws:roads.json", "[1]", "{line}seedRequest{any}");
  refusedAt("JSON null", "/rest/seed/ws:roads.json", "null", "{line}seedRequest{any}");
  refusedAt("a seedRequest that is null", "/rest/seed/ws:roads.json", '{"seedRequest":null}', "{line}seedRequest{any}");
  refusedAt("plain words", "/rest/seed/ws:roads.json", "hello", "{line}seedRequest{any}");
  refusedAt("text after the root", "/rest/seed/ws:roads.xml", "<seedRequest/>more", "{line}line 1{any}");
  refusedAt(
    "an undefined entity",
    "/rest/seed/ws:roads.xml",
    "<seedRequest><type>&nbsp;</type></seedRequest>",
    "{line}line 1{any}",
  );
  transcript(
    "an empty body is 400 and says what was expected",
    `
    > POST /rest/seed/ws:roads.xml
    > Content-Length: 0
    < 400 text/plain
    <
    < {line}seedRequest{any}
    ${IDLE}
  `,
  );
});

describe("forms", () => {
  refusedAt(
    "a form with type alone",
    "/rest/seed/ws:roads",
    "type=seed",
    "kill_all: expected all, running, pending or 1{any}",
  );
  refusedAt(
    "a form with an unknown type",
    "/rest/seed/ws:roads",
    "type=bogus&zoomStop=1",
    "type: expected {any}bogus{any}",
  );
  refusedAt(
    "a form with zooms in another case",
    "/rest/seed/ws:roads",
    "type=seed&zoomStart=1&zoomstop=2",
    "zoomstop: {any}zoomStop{any}",
  );
  refusedAt(
    "a form whose minX is no number",
    "/rest/seed/ws:roads",
    "type=seed&zoomStop=1&minX=a&minY=0&maxX=1&maxY=1",
    "minX: expected {any}",
  );
  refusedAt(
    "a form with three of four bounds",
    "/rest/seed/ws:roads",
    "type=seed&zoomStop=1&minX=0&minY=0&maxX=1",
    "maxY: expected {any}",
  );
  refusedAt("a form of anything else", "/rest/seed/ws:roads", "foo=bar", "kill_all: expected {any}");
});
