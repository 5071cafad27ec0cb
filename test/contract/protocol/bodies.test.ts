import { describe } from "vitest";
import { contractServer, KILL_ALL } from "../contract-server.ts";
import { layers } from "../layers.ts";

// `docs/reference/wire-format.md`, Bodies and Addresses (which parser reads): the same request in every guise that clients are known to send.
const { transcript } = contractServer({ configuration: (url) => layers(url), hanging: true, before: KILL_ALL });

/** Each body requests image/jpeg of EPSG:900913 at zoom 1, in a different notation. */
const read = (sentence: string, path: string, headers: readonly string[], body: string): void =>
  transcript(
    sentence,
    `
    > POST ${path}
    ${headers.map((line) => `> ${line}`).join("\n")}
    >
    > ${body.replaceAll("\n", "\n> ")}
    < 200 text/plain
    < X-Job-Id: {id:job}
    > GET /api/v1/jobs/{id:job}
    < 200 application/json
    <
    < {"id":{id:job},"layer":"ws:roads","type":"reseed","gridSet":"EPSG:900913","format":"image/jpeg",{any}"zoomStart":1,"zoomStop":1,{any}
  `,
  );
const XML = "/rest/seed/ws:roads.xml";
const JSON_PATH = "/rest/seed/ws:roads.json";
const FIELDS =
  "<gridSetId>EPSG:900913</gridSetId><zoomStart>1</zoomStart><zoomStop>1</zoomStop><format>image/jpeg</format><type>reseed</type>";
const DOCUMENT = `<seedRequest>${FIELDS}</seedRequest>`;
const STRICT =
  '{"seedRequest":{"gridSetId":"EPSG:900913","zoomStart":1,"zoomStop":1,"format":"image/jpeg","type":"reseed"}}';

describe("which parser", () => {
  read("XML as text/xml", XML, ["Content-Type: text/xml"], DOCUMENT);
  read("XML as application/xml with a charset", XML, ["Content-Type: application/xml; charset=utf-8"], DOCUMENT);
  read("XML labelled JSON", XML, ["Content-Type: application/json"], DOCUMENT);
  read("XML as curl -d labels it", XML, ["Content-Type: application/x-www-form-urlencoded"], DOCUMENT);
  read("XML without a label", XML, [], DOCUMENT);
  read("JSON as application/json", JSON_PATH, ["Content-Type: application/json"], STRICT);
  read("JSON labelled XML", JSON_PATH, ["Content-Type: text/xml"], STRICT);
  read("JSON without a label", JSON_PATH, [], STRICT);
  read("the first character wins over the extension: XML at .json", JSON_PATH, [], DOCUMENT);
  read("the first character wins over the extension: JSON at .xml", XML, ["Content-Type: text/xml"], STRICT);
  read("without extension, labelled XML", "/rest/seed/ws:roads", ["Content-Type: application/xml"], DOCUMENT);
  read(
    "without extension, labelled JSON",
    "/rest/seed/ws:roads",
    ["Content-Type: application/json; charset=UTF-8"],
    STRICT,
  );
});

describe("the charset of Content-Type", () => {
  const named = (name: string): string => `<seedRequest><name>${name}</name>${FIELDS}</seedRequest>`;
  const inJson = STRICT.replace('{"grid', `{"name":"p{byte:e4}f","grid`);
  read("XML in ISO-8859-1", XML, ["Content-Type: text/xml; charset=ISO-8859-1"], named("p{byte:e4}f"));
  read(
    "quoted, behind another parameter",
    XML,
    ['Content-Type: text/xml; a=b; Charset="iso-8859-1"'],
    named("{byte:e4}"),
  );
  read("JSON in ISO-8859-1", JSON_PATH, ["Content-Type: application/json;charset=iso-8859-1"], inJson);
  read(
    "it goes before the declaration",
    XML,
    ["Content-Type: application/xml; charset=utf-8"],
    `<?xml version="1.0" encoding="ISO-8859-1"?>${named("p{byte:c3}{byte:a4}f")}`,
  );
  read(
    "a byte order mark goes before it",
    XML,
    ["Content-Type: text/xml; charset=ISO-8859-1"],
    `{byte:ef}{byte:bb}{byte:bf}${named("p{byte:c3}{byte:a4}f")}`,
  );
  transcript(
    "bytes that are not in the charset are refused",
    `\n> POST ${XML}\n> Content-Type: text/xml; charset=utf-8\n>\n> <?xml version="1.0" encoding="ISO-8859-1"?>${named("p{byte:e4}f")}\n< 400 text/plain\n<\n< {any}bytes that are not UTF-8{any}`,
  );
  for (const [path, method] of [
    [XML, "POST"],
    ["/rest/masstruncate", "POST"],
    ["/rest/layers/ws:roads.xml", "PUT"],
    ["/rest/gridsets/my.xml", "PUT"],
    ["/rest/blobstores/my.xml", "PUT"],
    ["/rest/diskquota.xml", "PUT"],
  ])
    transcript(
      `a charset that is not known is 415: ${method} ${path}`,
      `\n> ${method} ${path}\n> Content-Type: text/xml; charset=klingon\n>\n> <a/>\n< 415 text/plain\n<\n< Content-Type: expected the charset UTF-8, UTF-16, US-ASCII or ISO-8859-1, got "klingon"`,
    );
  transcript(
    "the same under /api/v1",
    `\n> POST /api/v1/jobs\n> Content-Type: application/json; charset=klingon\n>\n> {}\n< 415 application/problem+json\n<\n< {any}klingon{any}`,
  );
});

describe("XML", () => {
  read(
    "a declaration, comments, white space",
    XML,
    [],
    `<?xml version="1.0" encoding="UTF-8"?>\n<!-- these are listed -->\n<seedRequest>\n  <!-- a -->${FIELDS}\n</seedRequest>\n<!-- end -->\n`,
  );
  read("leading white space before the declaration", XML, [], ` \n<?xml version="1.0"?>${DOCUMENT}`);
  read("a byte order mark", XML, [], `{byte:ef}{byte:bb}{byte:bf}${DOCUMENT}`);
  read(
    "any order, CDATA everywhere",
    XML,
    [],
    "<seedRequest><type><![CDATA[reseed]]></type><name><![CDATA[ws:roads]]></name><gridSetId><![CDATA[EPSG:900913]]></gridSetId><zoomStart><![CDATA[1]]></zoomStart><zoomStop><![CDATA[1]]></zoomStop><format><![CDATA[image/jpeg]]></format><threadCount><![CDATA[32]]></threadCount><parameters><![CDATA[]]></parameters></seedRequest>",
  );
  read(
    "a namespace by default",
    XML,
    [],
    `<seedRequest xmlns="http://geowebcache.org/schema/1.0.0">${FIELDS}</seedRequest>`,
  );
  read(
    "a prefix on root and fields",
    XML,
    [],
    `<g:seedRequest xmlns:g="urn:g">${FIELDS.replace(/<(\/?)(\w)/g, "<$1g:$2")}</g:seedRequest>`,
  );
  read(
    "unknown elements and attributes",
    XML,
    [],
    `<seedRequest class="x"><filterUpdate>true</filterUpdate><more><zoomStop>9</zoomStop></more>${FIELDS}</seedRequest>`,
  );
  read("entities and character references", XML, [], DOCUMENT.replace("image/jpeg", "image&#x2F;jpe&#103;"));
  read(
    "blanks around values",
    XML,
    [],
    FIELDS.replace(/>([^<]+)</g, "> $1\n<")
      .replace(/^/, "<seedRequest>")
      .concat("</seedRequest>"),
  );
  read("leading noughts are decimal", XML, [], DOCUMENT.replaceAll(">1<", ">01<"));
  read(
    "ISO-8859-1 as its declaration says",
    XML,
    [],
    `<?xml version="1.0" encoding="ISO-8859-1"?><seedRequest><name>stra{byte:df}e</name>${FIELDS}</seedRequest>`,
  );
  read(
    "an empty srs and empty parameters are not given",
    XML,
    [],
    `<seedRequest><srs/><parameters/>${FIELDS}</seedRequest>`,
  );
});

describe("JSON", () => {
  read("numbers as strings with blanks", JSON_PATH, [], STRICT.replaceAll(":1,", ':" 1 ",'));
  read(
    "single quotes, an escaped slash and a brace too many",
    JSON_PATH,
    [],
    STRICT.replaceAll('"', "'").replace("image/jpeg", "image\\/jpeg").concat("}"),
  );
  read("unquoted keys", JSON_PATH, [], STRICT.replace(/"(\w+)":/g, "$1:"));
  read("bare words, after the shell has eaten the quotes", JSON_PATH, [], STRICT.replaceAll('"', ""));
  read(
    "null is absent",
    JSON_PATH,
    [],
    STRICT.replace('"seedRequest":{', '"seedRequest":{"bounds":null,"srs":null,"parameters":null,"threadCount":null,'),
  );
  read(
    "unknown keys",
    JSON_PATH,
    [],
    STRICT.replace('"seedRequest":{', '"seedRequest":{"filterUpdate":true,"more":{"deep":[1,{"x":null}]},'),
  );
  read("line breaks and tabs", JSON_PATH, [], STRICT.replaceAll(",", ",\n\t"));
  read("escapes of Unicode", JSON_PATH, [], STRICT.replace("reseed", "r\\u0065seed"));
  read("a byte order mark before JSON", JSON_PATH, [], `{byte:ef}{byte:bb}{byte:bf}${STRICT}`);
});

describe("sizes and framing", () => {
  read(
    "a body in chunks",
    XML,
    ["Transfer-Encoding: chunked"],
    `${DOCUMENT.length.toString(16)}\r\n${DOCUMENT}\r\n0\r\n\r\n`,
  );
  read("a client that waits for 100 Continue", XML, ["Expect: 100-continue"], DOCUMENT);
  read("a body just under the limit", XML, [], `${DOCUMENT}{times:1048000: }`);
  const refused = (
    sentence: string,
    status: number,
    path: string,
    headers: readonly string[],
    body: string,
    words: string,
  ): void =>
    transcript(
      sentence,
      `
      > POST ${path}
      ${headers.map((line) => `> ${line}`).join("\n")}
      >
      > ${body}
      < ${status} text/plain
      <
      < ${words}
      > GET /rest/seed.json
      < 200 application/json
      <
      < {"long-array-array":[]}
    `,
    );
  refused("a body over 1 MiB is 413", 413, XML, [], `${DOCUMENT}{times:1048576: }`, "{line}1048576{any}");
  refused("a body over 1 MiB for mass truncate", 413, "/masstruncate", [], "{times:1100000:a}", "{any}");
  refused(
    "a body of 16 MiB: who writes all of it before reading gets the answer",
    413,
    XML,
    [],
    "{times:16777216:a}",
    "{any}",
  );
  refused("a kill over 1 MiB", 413, "/rest/seed", [], "kill_all=all&x={times:1100000:a}", "{any}");
  refused(
    "XML that is too deep is 400",
    400,
    XML,
    [],
    `<seedRequest>${"<a>".repeat(3000)}${"</a>".repeat(3000)}</seedRequest>`,
    "{any}",
  );
  refused(
    "JSON that is too deep is 400",
    400,
    JSON_PATH,
    [],
    `{"seedRequest":{"x":${"[".repeat(3000)}${"]".repeat(3000)}}}`,
    "{any}",
  );
  refused(
    "a body that is not UTF-8 is 400",
    400,
    XML,
    [],
    `<seedRequest><format>{byte:ff}</format></seedRequest>`,
    "{any}",
  );
  refused("JSON that is not UTF-8 is 400", 400, JSON_PATH, [], '{"seedRequest":{"format":"{byte:ff}"}}', "{any}");
  refused(
    "an encoding that nobody knows is 400",
    400,
    XML,
    [],
    `<?xml version="1.0" encoding="KOI8-X"?>${DOCUMENT}`,
    "{line}KOI8-X{any}",
  );
  refused(
    "a compressed body is refused in words",
    400,
    XML,
    ["Content-Encoding: gzip"],
    "x",
    "Content-Encoding: {any}",
  );
  refused("a nought byte is 400", 400, XML, [], "<seedRequest>{byte:00}</seedRequest>", "{any}");
});

describe("what the parser of HTTP refuses is text too", () => {
  transcript("an address of 9 KiB is 414", "\n> GET /{times:9000:a}\n< 414 text/plain\n<\n< {line}");
  transcript(
    "headers of 20 KiB are 431",
    "\n> GET /rest/seed.json\n> X-Long: {times:20000:a}\n< 431 text/plain\n<\n< {line}",
  );
  transcript(
    "a header without a colon is 400",
    "\n> GET /rest/seed.json\n> broken header\n< 400 text/plain\n<\n< {line}",
  );
  transcript(
    "an unknown expectation is 417",
    "\n> GET /rest/seed.json\n> Expect: magic\n< 417 text/plain\n<\n< {line}",
  );
  transcript(
    "HTTP/1.1 without Host is 400",
    "\n> GET /rest/seed.json\n> Host: {absent}\n< 400 text/plain\n<\n< {line}",
  );
  transcript(
    "a Content-Length that is no number is 400",
    "\n> POST /rest/seed\n> Content-Length: x\n< 400 text/plain\n<\n< {line}",
  );
});
