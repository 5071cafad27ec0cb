import { describe } from "vitest";
import { contractServer, KILL_ALL } from "../contract-server.ts";
import { layers } from "../layers.ts";

// `docs/reference/wire-format.md`, Addresses: addresses.
const { transcript } = contractServer({
  configuration: (url) => layers(url, 'server: { mounts: ["/", "/geowebcache", "/gs/gwc"] }'),
  hanging: true,
  before: KILL_ALL,
});

const IDLE = '{"long-array-array":[]}';
const ok = (sentence: string, path: string): void =>
  transcript(sentence, `\n> GET ${path}\n< 200 application/json\n<\n< ${IDLE}`);
const refused = (sentence: string, status: number, path: string, words = "{line}", method = "GET"): void =>
  transcript(sentence, `\n> ${method} ${path}\n< ${status} text/plain\n<\n< ${words}`);

describe("mounts", () => {
  ok("at the root", "/rest/seed.json");
  ok("under /geowebcache", "/geowebcache/rest/seed.json");
  ok("under a mount of two segments", "/gs/gwc/rest/seed.json");
  ok("a query means nothing to the list", "/rest/seed.json?a=b&c=%zz");
  ok("absolute form", "http://localhost/geowebcache/rest/seed.json");
  refused("a mount in another case is none", 404, "/GeoWebCache/rest/seed.json");
  ok("a mount with escapes", "/%67eowebcache/rest/seed.json");
  ok("a mount of two segments with escapes", "/g%73/%67wc/rest/seed.json");
  refused("an escaped slash does not split a mount", 404, "/gs%2Fgwc/rest/seed.json");
  refused("half a mount is none", 404, "/gs/rest/seed.json");
  refused("mounts do not nest", 404, "/geowebcache/geowebcache/rest/seed.json");
});

describe("layers in paths", () => {
  ok("a colon as it is", "/rest/seed/ws:roads.json");
  ok("a colon as %3A", "/rest/seed/ws%3Aroads.json");
  ok("a colon as %3a", "/rest/seed/ws%3aroads.json");
  ok("every letter escaped", "/rest/seed/%77%73%3a%72%6f%61%64%73.json");
  ok("spaces, dots and letters beyond ASCII", "/rest/seed/l%C3%A4%20yer.v1.json");
  ok("a slash as %2F", "/rest/seed/x%2Fy.json");
  ok("a plus is a plus", "/rest/seed/a+b.json");
  ok("a plus as %2B", "/rest/seed/a%2Bb.json");
  ok("the extension is looked for after decoding", "/rest/seed/ws:roads%2Ejson");
  refused("a space is no plus", 400, "/rest/seed/a%20b.json", "Unknown layer: a b");
  refused("a raw slash splits", 404, "/rest/seed/x/y.json");
  refused("names are decoded once", 400, "/rest/seed/ws%253Aroads.json", "Unknown layer: ws%3Aroads");
  refused("only the last dot counts", 400, "/rest/seed/ws:roads.json.json", "Unknown layer: ws:roads.json");
  refused("an extension in another case is part of the name", 405, "/rest/seed/ws:roads.JSON", "{any}");
  refused("another extension is part of the name", 405, "/rest/seed/ws:roads.txt", "{any}");
  refused(
    "and so is unknown where the method is allowed",
    400,
    "/rest/seed/ws:roads.txt",
    "Unknown layer: ws:roads.txt",
    "POST",
  );
});

describe("bad escapes", () => {
  refused("no hexadecimal digits", 400, "/rest/seed/%zz.json", "path: expected percent-escapes of UTF-8{any}");
  refused("cut off", 400, "/rest/seed/abc%2", "path: expected percent-escapes of UTF-8{any}");
  refused("not UTF-8", 400, "/rest/seed/%ff.json", "path: expected percent-escapes of UTF-8{any}");
  refused("bytes beyond ASCII, which HTTP does not know in an address", 400, "/rest/seed/lä%20yer.v1.json");
  refused("an overlong slash", 400, "/rest/seed/x%c0%afy.json", "path: expected {any}");
});

describe("what is not there", () => {
  for (const path of [
    "/rest/nothing",
    "/rest/statistics",
    "/rest/seeds",
    "/rest/seed.txt",
    "/rest/seed.JSON",
    "/REST/seed.json",
    "//rest/seed.json",
    "/rest//seed.json",
    "/rest/seed/ws:roads/1",
    "/seed.json",
    "/seed",
    "/rest/diskquota.txt",
    "/rest/diskquota.json/x",
    "/rest/masstruncate/ws:roads",
    "/reload",
    "/nothing",
    "/rest/../rest/seed.json",
    "/rest/./seed.json",
    "/rest/%2e%2e/seed.json",
    "/geowebcache/../rest/seed.json",
  ])
    refused(`GET ${path} is 404`, 404, path);
  refused("..%2f is a name, not a way up", 400, "/rest/seed/..%2f..%2fetc.json", "Unknown layer: ../../etc");
  refused("POST of an unknown path is 404", 404, "/rest/nothing", "{line}", "POST");
});

describe("a variable that was empty must not mean all layers", () => {
  for (const path of [
    "/rest/seed/",
    "/rest/seed//",
    "/rest/seed/.json",
    "/rest/seed/.xml",
    "/geowebcache/rest/seed/",
  ]) {
    refused(`GET ${path}`, 404, path);
    transcript(
      `POST ${path} kills nothing`,
      `
      > POST /rest/seed/ws:roads.json
      >
      > {"seedRequest":{"zoomStop":1}}
      < 200 text/plain
      > POST ${path}
      >
      > kill_all=all
      < 404 text/plain
      <
      < {line}
      > GET /rest/seed.json
      < 200 application/json
      <
      < {"long-array-array":[[0,5,-1,{id},{status}]]}
    `,
    );
  }
});

describe("trailing slashes are tolerated elsewhere", () => {
  ok("/rest/seed.json/", "/rest/seed.json/");
  ok("/rest/seed/ws:roads.json/", "/rest/seed/ws:roads.json/");
  transcript("/rest/diskquota.json/", "\n> GET /rest/diskquota.json/\n< 200 application/json\n<\n< {any}");
  transcript(
    "/rest/masstruncate/",
    '\n> GET /rest/masstruncate/\n< 200 application/xml\n<\n< <massTruncateRequests href="http://localhost/rest/masstruncate">{any}',
  );
  transcript(
    "POST /rest/seed/ws:roads/",
    "\n> POST /rest/seed/ws:roads/\n>\n> kill_all=all\n< 200 text/html; charset=utf-8\n<\n< {any}",
  );
});

describe("the order of checks", () => {
  refused("404 of the path comes before 405", 404, "/rest/nothing", "{line}", "DELETE");
  refused("405 comes before the layer", 405, "/rest/seed/no:such.json", "{any}", "DELETE");
  transcript(
    "the layer in the path comes before the body",
    "\n> POST /rest/seed/no:such.json\n>\n> rubbish\n< 400 text/plain\n<\n< Unknown layer: no:such",
  );
});
