import { isDeepStrictEqual } from "node:util";
import { decodeText } from "../../src/body/body-text.ts";
import { inCharset } from "../../src/body/charset.ts";
import type { Field } from "../../src/body/field.ts";
import { readJson } from "../../src/body/lenient-json.ts";
import { readXml } from "../../src/body/xml-reader.ts";
import { parseYaml } from "../../src/configuration/internal/read/parsed-yaml.ts";
import { GeoRssReader } from "../../src/feed/georss-reader.ts";
import { decodeGeoJson } from "../../src/http/api/jobs/geojson-area.ts";
import { decodeWkt } from "../../src/http/api/jobs/wkt-area.ts";
import { sessionTokenOf } from "../../src/http/auth/session-cookie.ts";
import { parseForm, parseQuery } from "../../src/http/request/query.ts";
import type { Result } from "../../src/lib/result.ts";
import { SourceCookies } from "../../src/source/http/cookies.ts";
import type { Decoder } from "./decoder.ts";

const texts = (...list: readonly string[]) => list.map((text) => Buffer.from(text, "utf8"));
/** A text as HTTP and files give it: any bytes. */
const loose = (bytes: Uint8Array): string => Buffer.from(bytes).toString("utf8");

const kindOf = (result: Result<unknown, unknown>): string =>
  result.ok ? "value" : `refused: ${JSON.stringify(result.error)?.slice(0, 300)}`;

/** Runs a decoding that yields between slices of work. */
function finished<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

function mustEqual(name: string, again: unknown, first: unknown): void {
  if (!isDeepStrictEqual(again, first))
    throw new TypeError(`${name}: ${JSON.stringify(first)} came back as ${JSON.stringify(again)}`);
}

/** The names, kinds and texts of a document, without positions. */
const plain = ({ name, kind, text, children }: Field): unknown => [name, kind, text, children.map(plain)];

/** Writes a value that was read from JSON again. Numbers and words become texts, which the reader does not tell apart. */
function writtenJson({ kind, text, children }: Field): string {
  if (kind === "list") return `[${children.map(writtenJson).join(",")}]`;
  if (kind === "null") return "null";
  if (children.length === 0) return JSON.stringify(text);
  return `{${children.map((child) => `${JSON.stringify(child.name)}:${writtenJson(child)}`).join(",")}}`;
}

const xml: Decoder = {
  name: "xml",
  examples: () =>
    texts(
      '<?xml version="1.0" encoding="UTF-8"?>\n<seedRequest><name>a:b</name><bounds><coords><double>1</double></coords></bounds><gridSetId>EPSG:4326</gridSetId></seedRequest>',
      '<wmsLayer xmlns:x="urn:x" a="1"><x:name>é&amp;&#65;<![CDATA[<b>]]></x:name><!-- c --><?p i?></wmsLayer>',
      "\ufeff <a/>",
    ),
  words: [
    "<![CDATA[",
    "]]>",
    "<!DOCTYPE a [",
    "&#x110000;",
    "&#0;",
    "&lt;",
    "<?xml",
    "xmlns:",
    'encoding="utf-16"',
    "--",
  ],
  refusals: [],
  decode(bytes) {
    const text = decodeText(bytes);
    return text.ok ? kindOf(readXml(text.value, "read")) : kindOf(text);
  },
};

const json: Decoder = {
  name: "json",
  examples: () =>
    texts(
      '{"seedRequest":{"name":"a","bounds":{"coords":{"double":[1.50,-2e3]}},"zoomStart":0,"x":null,"y":[{"z":true}]}}',
      "{'seedRequest':{name:a:b,type:'seed',gridSetId:EPSG:4326}}}",
      '{"a\\u00e9\\n":"\\ud83d\\ude00"}',
    ),
  words: ["\\u", "\\ud800", "null", "[[[[", "}}}", "{a:", "'", "\ufeff", "__proto__"],
  refusals: [],
  decode(bytes) {
    const text = decodeText(bytes);
    if (!text.ok) return kindOf(text);
    const read = readJson(text.value);
    if (read.ok && read.value.kind !== "null") {
      const again = readJson(writtenJson(read.value));
      // An empty object and an empty text are the same field.
      mustEqual("json", again.ok ? plain(again.value) : again, plain(read.value));
    }
    return kindOf(read);
  },
};

const wkt: Decoder = {
  name: "wkt",
  examples: () =>
    texts(
      "SRID=4326;POLYGON Z ((0 0 1, 9 0 1, 9 9 1, 0 0 1), (1 1 1, 2 1 1, 2 2 1, 1 1 1))",
      "MULTIPOLYGON(((0 0,9 0,9 9,0 0)),EMPTY,((-1e1 .5,1 0,1 1,-1e1 .5)))",
      "GEOMETRYCOLLECTION(POLYGON((0 0,9 0,9 9,0 0)),POLYGON EMPTY)",
    ),
  words: ["GEOMETRYCOLLECTION(", "POLYGON((", "EMPTY", "ZM", "SRID=0;", "1e999", "-.", "((((", "))"],
  refusals: [],
  decode: (bytes) => kindOf(finished(decodeWkt(loose(bytes)))),
};

const geojson: Decoder = {
  name: "geojson",
  examples: () =>
    texts(
      '{"type":"Polygon","coordinates":[[[0,0],[9,0],[9,9],[0,0]]]}',
      '{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"MultiPolygon","coordinates":[[[[0,0,5],[9,0],[9,9],[0,0]]]]}},{"type":"Feature","geometry":null}]}',
      '{"type":"GeometryCollection","geometries":[{"type":"Polygon","coordinates":[]}]}',
    ),
  words: ['"Feature"', '"geometry":', "[[[[", "null", "1e999", "{}", '"coordinates":'],
  refusals: [SyntaxError],
  decode: (bytes) => kindOf(finished(decodeGeoJson(JSON.parse(loose(bytes))))),
};

const kvp: Decoder = {
  name: "kvp",
  examples: () => texts("SERVICE=WMTS&request=GetTile&Layer=a%3Ab&STYLES=&x=1+2", "a=%C3%A9&a=2&b&=c&&%", "q=\u00e9"),
  words: ["%", "%00", "%c3", "%ff", "&&", "==", "+", "%25", "%ud800"],
  refusals: [],
  decode(bytes) {
    const text = Buffer.from(bytes).toString("latin1");
    parseForm(text);
    const query = parseQuery(text);
    if (query.ok) {
      const written = Array.from(query.value, (pair) => pair.map(encodeURIComponent).join("=")).join("&");
      mustEqual("kvp", parseQuery(written), query);
    }
    return query.ok ? "value" : "refused: an escape";
  },
};

const georss: Decoder = {
  name: "georss",
  examples: () =>
    texts(
      '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:georss="http://www.georss.org/georss" xmlns:gml="http://www.opengis.net/gml"><entry><updated>2010-03-02T15:51:55Z</updated><georss:where><gml:Polygon><gml:exterior><gml:LinearRing><gml:posList>0 0 9 0 9 9 0 0</gml:posList></gml:LinearRing></gml:exterior></gml:Polygon></georss:where></entry></feed>',
      '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:georss="http://www.georss.org/georss" xmlns:gml="http://www.opengis.net/gml/3.2"><entry><georss:where><gml:Point srsDimension="3"><gml:pos>1 2 3</gml:pos></gml:Point><gml:Envelope><gml:lowerCorner>0 0</gml:lowerCorner><gml:upperCorner>1 1</gml:upperCorner></gml:Envelope><gml:LineString><gml:posList>0 0 1 1</gml:posList></gml:LineString></georss:where></entry></feed>',
    ),
  words: [
    "<entry>",
    "<gml:Polygon>",
    "<gml:interior>",
    "<gml:pos>",
    "1e308",
    "NaN",
    ' srsDimension="4"',
    "<!DOCTYPE a>",
    "\ud800",
  ],
  refusals: [Error],
  decode(bytes) {
    const reader = new GeoRssReader();
    reader.write(loose(bytes));
    for (const { polygons } of reader.end()) for (const polygon of polygons) JSON.stringify(polygon);
    return "value";
  },
};

const cookies: Decoder = {
  name: "cookies",
  examples: () =>
    texts(
      `a=1; nuthatch_session=${"A".repeat(43)}; b="2"`,
      "s=1; Domain=.example.org; Path=/x; Expires=Wed, 21 Oct 2037 07:28:00 GMT; Max-Age=60; Secure; HttpOnly; SameSite=None",
      "__Host-a=b; Path=/",
    ),
  words: ["; Domain=", "; Path=", "; Expires=", "Max-Age=-1", "nuthatch_session=", "=", ";", "__Secure-", "\u0000"],
  refusals: [],
  async decode(bytes) {
    const text = Buffer.from(bytes).toString("latin1");
    const token = sessionTokenOf(text);
    const jar = new SourceCookies();
    const url = new URL("http://maps.example.org/x/y");
    const kept = await jar.keep(url, { headers: { "set-cookie": text.split("\n") } });
    const header = await jar.headerFor(url);
    return `${token === undefined ? "no token" : "token"}, ${kept.length} kept, ${header === undefined ? "none" : "some"} back`;
  },
};

const yaml: Decoder = {
  name: "yaml",
  examples: () =>
    texts(
      "server: { port: 8080 }\nlayers:\n  - name: a\n    source: { type: wms, url: 'http://h/', layers: [x, y] }\n    text: |\n      two\n      lines\n",
      "a: &x { b: 1 }\nc: *x\nd: { <<: *x, e: ~ }\nf: !!str 1\n",
      "%YAML 1.2\n---\n? k\n: [1, 0x1f, .inf, 2026-01-01]\n...\n",
    ),
  words: [
    "&a ",
    "*a",
    "<<: ",
    "!!",
    "- - - ",
    "? ",
    ": ",
    "|\n",
    ">-\n",
    "---\n",
    "{",
    "[",
    "\t",
    '"\\x',
    "__proto__: ",
  ],
  refusals: [],
  decode(bytes) {
    const parsed = parseYaml(loose(bytes));
    if (parsed.ok) {
      parsed.value.offsetOf(["layers", 0, "name"], "value");
      parsed.value.offsetOf(["a"], "key");
    }
    return kindOf(parsed);
  },
};

const charset: Decoder = {
  name: "charset",
  examples: () =>
    texts("text/xml; charset=utf-8\n<a>é</a>", 'text/xml; charset="ISO-8859-1"\n<a/>', "a/b;charset=utf-16\nab"),
  words: ["; charset=", "utf-16le", "us-ascii", '"', "\\", "\ufeff", "<?xml encoding='latin1'?>"],
  refusals: [],
  decode(bytes) {
    const end = Math.max(0, bytes.indexOf(0x0a));
    const type = Buffer.from(bytes.subarray(0, end)).toString("latin1");
    const body = inCharset(bytes.subarray(end + 1), type);
    return body.ok ? kindOf(decodeText(body.value)) : kindOf(body);
  },
};

export const textDecoders: readonly Decoder[] = [xml, json, wkt, geojson, kvp, georss, cookies, yaml, charset];
