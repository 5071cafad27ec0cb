import { describe, expect, test } from "vitest";
import { until } from "../../support/until.ts";
import { contractServer } from "../contract-server.ts";
import { layers } from "../layers.ts";

// : addresses of tiles and their statuses.
const { transcript, at, upstream } = contractServer({ configuration: (url) => layers(url) });

const tile = (sentence: string, path: string, type = "image/png"): void =>
  transcript(
    sentence,
    `\n> GET ${path}\n< 200 ${type}\n< Access-Control-Allow-Origin: *\n< ETag: {word}\n< Cache-Control: {any}\n<\n< {any}`,
  );

describe("addresses", () => {
  for (const mount of ["", "/geowebcache"]) {
    tile(`${mount} XYZ`, `${mount}/xyz/ws:roads/2/1/1.png`);
    tile(`${mount} XYZ with a grid set`, `${mount}/xyz/ws:roads/EPSG:4326/2/1/1.png`);
    tile(`${mount} TMS`, `${mount}/service/tms/1.0.0/ws:roads@EPSG:900913@png/2/1/1.png`);
    tile(
      `${mount} WMTS by key and value`,
      `${mount}/service/wmts?service=WMTS&request=GetTile&version=1.0.0&layer=ws:roads&style=&format=image/png&tilematrixset=EPSG:900913&tilematrix=EPSG:900913:2&tilerow=1&tilecol=1`,
    );
    tile(`${mount} WMTS REST`, `${mount}/service/wmts/rest/ws:roads/EPSG:900913/EPSG:900913:2/1/1?format=image/png`);
    transcript(
      `${mount} capabilities, for a client that accepts anything`,
      `\n> GET ${mount}/service/wmts/rest/WMTSCapabilities.xml\n> Accept: application/json, */*;q=0.1\n< 200 text/xml;charset=UTF-8\n<\n< {any}<Capabilities{any}http://localhost${mount}/service/wmts{any}`,
    );
  }
  tile("jpg is an alias of jpeg", "/xyz/ws:roads/2/1/1.jpg", "image/jpeg");
  tile("jpeg", "/xyz/ws:roads/2/1/1.jpeg", "image/jpeg");
  tile("escaped names", "/xyz/x%2Fy/EPSG%3A4326/0/1/0.png");
  tile("a parameter", "/xyz/ws:roads/2/1/1.png?STYLES=a");
  tile("keys of parameters in any case", "/xyz/ws:roads/2/1/1.png?styles=b");
});

describe("what is refused", () => {
  const refused = (sentence: string, status: number, path: string): void =>
    transcript(sentence, `\n> GET ${path}\n< ${status} text/plain\n< Access-Control-Allow-Origin: *\n<\n< {any}`);
  refused("outside the coverage", 404, "/xyz/x%2Fy/EPSG:4326/3/0/0.png");
  refused("a level that the layer lacks", 404, "/xyz/x%2Fy/EPSG:4326/11/0/0.png");
  refused("a column beyond the level", 404, "/xyz/ws:roads/0/1/0.png");
  refused("TMS outside", 404, "/service/tms/1.0.0/ws:roads@EPSG:900913@png/0/0/1.png");
  refused("the short XYZ form on a layer without EPSG:900913", 404, "/xyz/x%2Fy/0/1/0.png");
  refused("no such place", 404, "/xyz");
  refused("too few segments", 404, "/xyz/ws:roads/1.png");
  refused("a column that is no number", 400, "/xyz/ws:roads/2/a/1.png");
  refused("a negative row", 400, "/xyz/ws:roads/2/1/-1.png");
  refused("no extension", 400, "/xyz/ws:roads/2/1/1");
  refused("an extension that is not offered", 400, "/xyz/ws:roads/2/1/1.gif");
  refused("an unknown grid set", 400, "/xyz/ws:roads/EPSG:1/2/1/1.png");
  refused("an illegal parameter value", 400, "/xyz/ws:roads/2/1/1.png?STYLES=zz");
  refused("a bad escape", 400, "/xyz/ws%zzroads/2/1/1.png");

  const wmts = (sentence: string, query: string, code: string): void =>
    transcript(
      sentence,
      `\n> GET /service/wmts?${query}\n< 400 text/xml\n<\n< {any}<ExceptionReport{any}exceptionCode="${code}"{any}`,
    );
  const GOOD =
    "request=GetTile&layer=ws:roads&format=image/png&tilematrixset=EPSG:900913&tilematrix=EPSG:900913:1&tilerow=0&tilecol=0";
  wmts("WMTS without a request", "service=WMTS", "MissingParameterValue");
  wmts("WMTS with an unknown layer", GOOD.replace("ws:roads", "no:such"), "InvalidParameterValue");
  wmts("WMTS without a format", GOOD.replace("format=image/png", "format="), "MissingParameterValue");
  wmts("WMTS out of range is 400 too", GOOD.replace("tilerow=0", "tilerow=9"), "TileOutOfRange");
  wmts("WMTS with a column out of range", GOOD.replace("tilecol=0", "tilecol=9"), "TileOutOfRange");
  for (const method of ["POST", "PUT", "DELETE"])
    transcript(
      `${method} of a tile is 405`,
      `\n> ${method} /xyz/ws:roads/2/1/1.png\n< 405 text/plain\n< Allow: GET, HEAD, OPTIONS\n<\n< {line}GET, HEAD, OPTIONS`,
    );
});

transcript("HEAD of a tile has no body", "\n> HEAD /xyz/ws:roads/2/2/1.png\n< 200 image/png\n< Content-Length: {id}");
transcript(
  "OPTIONS of a tile is the CORS preflight",
  "\n> OPTIONS /xyz/ws:roads/2/1/1.png\n> Origin: http://maps.example\n< 200\n< Allow: GET, HEAD, OPTIONS\n< Access-Control-Allow-Origin: *\n< Access-Control-Allow-Methods: GET, HEAD, OPTIONS",
);
transcript(
  "a tile that the client has is 304",
  `
  > GET /xyz/ws:roads/2/1/1.png
  < 200 image/png
  < ETag: {word:etag}
  <
  < {any}
  > GET /xyz/ws:roads/2/1/1.png
  > If-None-Match: {word:etag}
  < 304
  < ETag: {word:etag}
`,
);
transcript(
  "a miss is a hit the next time",
  `
  > GET /xyz/ws:roads/9/8/8.png
  < 200 image/png
  < geowebcache-cache-result: MISS
  <
  < {any}
  > GET /xyz/ws:roads/9/8/8.png
  < 200 image/png
  < geowebcache-cache-result: HIT
  <
  < {any}
`,
);

test("a bad answer of the upstream is 502 and never stored, and no answer contains the upstream's address", async () => {
  const { url } = at();
  const before = upstream().behaviour;
  upstream().behaviour = (_, response) => {
    response.writeHead(404, { "Content-Type": "text/plain" });
    response.end("no");
    return "handled";
  };
  try {
    for (const path of [
      "/xyz/a+b/12/100/100.png",
      "/service/wmts?request=GetTile&layer=a%2Bb&format=image/png&tilematrixset=EPSG:900913&tilematrix=EPSG:900913:12&tilerow=200&tilecol=200",
    ]) {
      const answer = await fetch(url + path);
      const text = await answer.text();
      expect(answer.status, text).toBe(502);
      expect(answer.headers.get("cache-control")).toBe("no-store");
      expect(answer.headers.get("content-type")).toBe(path.startsWith("/xyz") ? "text/plain" : "text/xml");
      expect(text).not.toContain(new URL(upstream().url).port);
      expect(text).not.toContain("127.0.0.1");
    }
  } finally {
    upstream().behaviour = before;
  }
  const rendered = await until("it is rendered once the upstream is well", async () => {
    const again = await fetch(`${url}/xyz/a+b/12/100/100.png`);
    await again.arrayBuffer();
    return again.status === 200 ? again.status : undefined;
  });
  expect(rendered).toBe(200);
});
