import { beforeAll, describe, expect, test } from "vitest";
import { wmsConfiguration } from "../../support/server/wms-configuration.ts";
import { contractServer } from "../contract-server.ts";

// What GWC answers at its tile services, case by case (its facts 5.1 to 5.4), as changes it. Addresses and
// statuses of are in tiles.test.ts, values of parameters and styles in src/http/tiles.
const { transcript, at, upstream } = contractServer({
  configuration: (url) =>
    wmsConfiguration(url, [
      {
        name: "ws:roads",
        gridSubsets: "[{ gridSet: EPSG:900913 }, { gridSet: EPSG:4326, extent: [0, 0, 45, 45], zoomStop: 10 }]",
        extra: `expireClientSeconds: 7200
    cacheBypassAllowed: true
    metatile: [1, 1]
    gutter: 0
    parameterFilters: [{ type: string, key: STYLES, default: "", values: [a] }, { type: integer, key: ELEVATION, default: "0", values: [0, 10], threshold: 1 }]`,
      },
      {
        name: "plain",
        gridSubsets: "[{ gridSet: EPSG:900913, zoomStart: 2, zoomStop: 5 }]",
        extra: "expireClientSeconds: 0",
      },
    ]),
});

/** The fault-injecting upstream only has pictures; for this test it also answers GetFeatureInfo. */
beforeAll(() => {
  upstream().behaviour = ({ target }, response) => {
    const query = new URL(target, "http://any").searchParams;
    if (query.get("REQUEST") !== "GetFeatureInfo") return "render";
    const said = ["QUERY_LAYERS", "INFO_FORMAT", "WIDTH", "HEIGHT", "X", "Y", "FEATURE_COUNT", "BBOX"];
    response.writeHead(200, { "Content-Type": "text/plain" });
    response.end(said.map((key) => `${key}=${query.get(key)}`).join(" "));
    return "handled";
  };
});

const WMTS = "/service/wmts?request=GetTile&layer=ws:roads&format=image/png";
const MAP = "/service/wms?request=GetMap&layers=ws:roads&format=image/png&width=256&height=256";
const QUARTER = 10018754.17;

describe("5.1 a tile", () => {
  for (const [protocol, path] of [
    ["WMTS", `${WMTS}&tilematrixset=EPSG:900913&tilematrix=EPSG:900913:2&tilerow=0&tilecol=1`],
    ["WMTS, a level by its number", `${WMTS}&tilematrixset=EPSG:900913&tilematrix=2&tilerow=0&tilecol=1`],
    ["WMTS REST", "/service/wmts/rest/ws:roads/EPSG:900913/EPSG:900913:2/0/1?format=image/png"],
    ["WMTS REST with an empty style", "/service/wmts/rest/ws:roads//EPSG:900913/EPSG:900913:2/0/1?format=image/png"],
    ["TMS", "/service/tms/1.0.0/ws%3Aroads@EPSG%3A900913@png/2/1/3.png"],
    ["TMS from the top", "/service/tms/1.0.0/ws%3Aroads@EPSG%3A900913@png/2/1/0.png?flipY=true"],
    ["TMS without a grid set", "/service/tms/1.0.0/ws:roads/2/1/3.png"],
    ["WMS-C", `${MAP}&srs=EPSG:900913&bbox=${-QUARTER},${QUARTER},0,${2 * QUARTER}`],
    ["WMS-C, an alias of the CRS", `${MAP}&tiled=true&srs=EPSG:3857&bbox=${-QUARTER},${QUARTER},0,${2 * QUARTER}`],
    ["GMaps", "/service/gmaps?layers=ws:roads&format=image/png&zoom=2&x=1&y=0"],
    ["Virtual Earth", "/service/ve?layers=ws:roads&format=image/png&quadkey=01"],
  ] as const)
    transcript(
      `has GWC's headers, by ${protocol}`,
      `
  > GET ${path}
  < 200 image/png
  < Content-Length: {id}
  < geowebcache-cache-result: {word}
  < geowebcache-tile-index: [1, 3, 2]
  < geowebcache-tile-bounds: -10018754.17,10018754.169999998,0.0,20037508.34
  < geowebcache-gridset: EPSG:900913
  < geowebcache-crs: EPSG:900913
  < geowebcache-message: {absent}
  < geowebcache-error: {absent}
  < Last-Modified: {line}
  < ETag: "{word}"
  < Cache-Control: max-age=7200, must-revalidate
  < Expires: {line}
  <
  < {any}
`,
    );
  transcript(
    "of degrees has those of its grid set",
    `
  > GET ${WMTS}&tilematrixset=EPSG:4326&tilematrix=EPSG:4326:3&tilerow=3&tilecol=8
  < 200 image/png
  < geowebcache-tile-index: [8, 4, 3]
  < geowebcache-tile-bounds: 0.0,0.0,22.5,22.5
  < geowebcache-gridset: EPSG:4326
  < geowebcache-crs: EPSG:4326
  <
  < {any}
`,
  );
  transcript(
    "of a layer without a time for clients says nothing of caching, and has its date all the same",
    `
  > GET /xyz/plain/2/1/1.png
  < 200 image/png
  < Cache-Control: {absent}
  < Expires: {absent}
  < Last-Modified: {line}
  <
  < {any}
`,
  );
  transcript(
    "that is stored is a hit, and not modified by its tag or its date; a date that is none is no date (GWC: 400)",
    `
  > GET /xyz/ws:roads/7/1/1.png
  < 200 image/png
  < geowebcache-cache-result: MISS
  <
  < {any}
  > GET /xyz/ws:roads/7/1/1.png
  < 200 image/png
  < geowebcache-cache-result: HIT
  < ETag: {word:tag}
  < Last-Modified: {line:date}
  <
  < {any}
  > GET /xyz/ws:roads/7/1/1.png
  > If-None-Match: {word:tag}
  < 304
  < geowebcache-cache-result: HIT
  < Cache-Control: max-age=7200, must-revalidate
  > GET /xyz/ws:roads/7/1/1.png
  > If-Modified-Since: {line:date}
  < 304
  < ETag: {word:tag}
  > GET /xyz/ws:roads/7/1/1.png
  > If-Modified-Since: yesterday
  < 200 image/png
  <
  < {any}
`,
  );
  test("that is stored is answered without the upstream, as 200 and as 304", async () => {
    const path = `${at().url}/xyz/ws:roads/7/2/2.png`;
    const first = await fetch(path);
    await first.arrayBuffer();
    const before = upstream().asked.length;
    const again = await fetch(path);
    await again.arrayBuffer();
    const unchanged = await fetch(path, { headers: { "If-None-Match": first.headers.get("etag") ?? "" } });
    expect([first.status, again.status, unchanged.status]).toEqual([200, 200, 304]);
    expect(upstream().asked).toHaveLength(before);
  });
});

describe("5.2 WMTS by key and value: what is wrong is 400 with an exception report", () => {
  const GOOD = `${WMTS}&tilematrixset=EPSG:4326&tilematrix=EPSG:4326:3&tilerow=3&tilecol=8`;
  const INFO = GOOD.replace("GetTile", "GetFeatureInfo").replace("format=image/png", "infoformat=text/plain");
  const wrong = (sentence: string, path: string, code: string, locator: string, words = ""): void =>
    transcript(
      sentence,
      `
  > GET ${path}
  < 400 text/xml
  < geowebcache-cache-result: {absent}
  <
  < {any}<ExceptionReport version="1.1.0" xmlns="http://www.opengis.net/ows/1.1"{any}<Exception exceptionCode="${code}" locator="${locator}">{any}${words}{any}
`,
    );
  const without = (key: string, path = GOOD): string => path.replace(new RegExp(`([?&])${key}=[^&]*`), `$1${key}=`);
  const given = (key: string, value: string, path = GOOD): string =>
    path.replace(new RegExp(`([?&])${key}=[^&]*`), `$1${key}=${value}`);

  for (const [key, locator = key.toUpperCase()] of [
    ["request", "request"],
    ["layer"],
    ["format"],
    ["tilematrixset"],
    ["tilematrix"],
    ["tilerow"],
    ["tilecol"],
  ] as const)
    wrong(`${key} is missing`, without(key), "MissingParameterValue", locator);
  wrong("another request", given("request", "GetNothing"), "InvalidParameterValue", "request", "GetTile");
  wrong("an unknown layer", given("layer", "no:such"), "InvalidParameterValue", "LAYER", "Unknown layer: no:such");
  wrong("a format that is none", given("format", "nonsense"), "InvalidParameterValue", "FORMAT", "image/jpeg");
  wrong("a format that the layer lacks", given("format", "image/gif"), "InvalidParameterValue", "FORMAT", "image/jpeg");
  wrong("an unknown grid set", given("tilematrixset", "x"), "InvalidParameterValue", "TILEMATRIXSET", "EPSG:900913");
  wrong("an unknown level", given("tilematrix", "EPSG:4326:99"), "InvalidParameterValue", "TILEMATRIX", "EPSG:4326:10");
  wrong("a level that the layer lacks", given("tilematrix", "11"), "InvalidParameterValue", "TILEMATRIX");
  wrong("a row that is no number (GWC: HTML)", given("tilerow", "a"), "InvalidParameterValue", "TILEROW");
  wrong("a column that is no number (GWC: HTML)", given("tilecol", "1.5"), "InvalidParameterValue", "TILECOL");
  wrong("a column outside the coverage", given("tilecol", "10"), "TileOutOfRange", "TILECOL", "8 to 9");
  wrong("a column before the first", given("tilecol", "-1"), "TileOutOfRange", "TILECOL", "8 to 9");
  wrong(
    "a row outside the coverage, counted as WMTS does",
    given("tilerow", "4"),
    "TileOutOfRange",
    "TILEROW",
    "2 to 3",
  );
  wrong("a style that the layer lacks (GWC: 500)", `${GOOD}&style=zz`, "InvalidParameterValue", "STYLE");
  wrong("a value that a filter refuses (GWC: 500)", `${GOOD}&elevation=99`, "InvalidParameterValue", "ELEVATION");
  wrong(
    "of several mistakes the first in GWC's order is reported",
    without("format", given("tilecol", "99")),
    "MissingParameterValue",
    "FORMAT",
  );
  wrong(
    "feature info without its format",
    without("infoformat", `${INFO}&i=1&j=1`),
    "MissingParameterValue",
    "INFOFORMAT",
  );
  wrong("feature info without a pixel", `${INFO}&j=1`, "MissingParameterValue", "I");
  wrong("feature info of half a pixel", `${INFO}&i=1&j=x`, "MissingParameterValue", "J");
  wrong("feature info left of the tile", `${INFO}&i=-1&j=1`, "PointIJOutOfRange", "I");
  wrong("feature info below the tile", `${INFO}&i=1&j=256`, "PointIJOutOfRange", "J");
  wrong("feature info outside the coverage", given("tilecol", "0", `${INFO}&i=1&j=1`), "TileOutOfRange", "TILECOL");

  transcript(
    "keys are taken in any case, and service and version may be absent",
    `\n> GET ${GOOD.replace(/[?&]\w+/g, (key) => key.toUpperCase())}\n< 200 image/png\n<\n< {any}`,
  );
  wrong("another service (GWC: ignored)", `${GOOD}&service=WFS`, "InvalidParameterValue", "service");
  wrong("another version (GWC: ignored)", `${GOOD}&version=9`, "InvalidParameterValue", "version");
  transcript(
    "feature info goes to the upstream with the tile's box, also for a layer that is not queryable",
    `
  > GET ${INFO}&i=7&j=9&feature_count=5
  < 200 text/plain
  < geowebcache-cache-result: {absent}
  <
  < QUERY_LAYERS=roads INFO_FORMAT=text/plain WIDTH=256 HEIGHT=256 X=7 Y=9 FEATURE_COUNT=5 BBOX=0{any},0{any},22.5,22.5
`,
  );
  transcript(
    "feature info by REST: row, column, then j and i",
    `
  > GET /service/wmts/rest/ws:roads/EPSG:4326/EPSG:4326:3/3/8/9/7?format=text/plain
  < 200 text/plain
  <
  < {any} X=7 Y=9 {any}
`,
  );
  transcript(
    "capabilities have GWC's type and file name",
    `
  > GET /service/wmts?request=GetCapabilities
  < 200 text/xml;charset=UTF-8
  < Content-Disposition: inline;filename=wmts-getcapabilities.xml
  <
  < {any}<ows:SupportedCRS>urn:ogc:def:crs:EPSG::900913</ows:SupportedCRS>{any}
`,
  );
  transcript(
    "REST takes any Accept (GWC: 406 to image/png)",
    `
  > GET /service/wmts/rest/ws:roads/EPSG:900913/EPSG:900913:2/0/1?format=image/png
  > Accept: image/png
  < 200 image/png
  <
  < {any}
`,
  );
  transcript(
    "an unknown REST path is 404 in plain text",
    "\n> GET /service/wmts/rest/ws:roads/EPSG:900913\n< 404 text/plain\n<\n< {any}",
  );
});

describe("5.3 TMS", () => {
  transcript(
    "the service",
    "\n> GET /service/tms/1.0.0\n< 200 text/xml;charset=UTF-8\n<\n< {any}<TileMapService {any}",
  );
  for (const [gridSet, profile] of [
    ["EPSG%3A900913", "global-mercator"],
    ["EPSG%3A4326", "global-geodetic"],
  ])
    transcript(
      `a tile map of ${gridSet} is ${profile}, its tile sets' addresses end in the level`,
      `
  > GET /service/tms/1.0.0/ws%3Aroads@${gridSet}@png
  < 200 text/xml;charset=UTF-8
  <
  < {any}<TileSets profile="${profile}">{any}href="http://localhost/service/tms/1.0.0/ws%3Aroads@${gridSet}@png/0" units-per-pixel="{any}" order="0"/>{any}
`,
    );
  transcript(
    "parameters are taken as everywhere (GWC: never)",
    "\n> GET /service/tms/1.0.0/ws:roads/2/1/2.png?STYLES=a\n< 200 image/png\n<\n< {any}",
  );
  const refused = (sentence: string, status: number, path: string): void =>
    transcript(sentence, `\n> GET /service/tms/1.0.0/${path}\n< ${status} text/plain\n<\n< {any}`);
  refused("outside the coverage is 404", 404, "ws:roads@EPSG:4326@png/3/0/0.png");
  refused("outside the grid set is 404", 404, "ws:roads@EPSG:900913@png/0/1/0.png");
  refused("an unknown grid set is 400", 400, "ws:roads@EPSG:1@png/0/0/0.png");
  refused("an unknown extension is 400", 400, "ws:roads@EPSG:900913@png/0/0/0.xyz");
});

describe("5.4 WMS-C", () => {
  const exception = (sentence: string, status: number, path: string, words: string): void => {
    transcript(
      `${sentence}, in version 1.1.1`,
      `\n> GET ${path}\n< ${status} application/vnd.ogc.se_xml\n<\n< {any}<ServiceExceptionReport version="1.1.1">{any}${words}{any}`,
    );
    transcript(
      `${sentence}, in version 1.3.0`,
      `\n> GET ${path}&version=1.3.0\n< ${status} text/xml\n<\n< {any}<ServiceExceptionReport version="1.3.0"{any}${words}{any}`,
    );
  };
  const AT = `srs=EPSG:900913&bbox=${-QUARTER},${QUARTER},0,${2 * QUARTER}`;
  exception(
    "a box off the grid is 400 and names the nearest tile",
    400,
    `${MAP}&srs=EPSG:900913&bbox=0,0,8000000,8000000`,
    "BBOX",
  );
  exception("another size is 400", 400, `${MAP.replace("width=256", "width=300")}&${AT}`, "256 x 256");
  exception("two layers are 400", 400, `${MAP.replace("ws:roads", "ws:roads,plain")}&${AT}`, "one layer");
  exception("an unknown layer is 400", 400, `${MAP.replace("ws:roads", "no:such")}&${AT}`, 'code="LayerNotDefined"');
  exception("an unknown format is 400", 400, `${MAP.replace("image/png", "image/gif")}&${AT}`, 'code="InvalidFormat"');
  exception("an unknown CRS is 400", 400, `${MAP}&srs=EPSG:1&bbox=0,0,1,1`, 'code="Invalid');
  exception(
    "outside the coverage is 404 (GWC: 200 and a blank picture)",
    404,
    `${MAP.replace("ws:roads", "plain")}&srs=EPSG:900913&bbox=${-2 * QUARTER},${-2 * QUARTER},${2 * QUARTER},${2 * QUARTER}`,
    "levels 2 to 5",
  );
  exception(
    "another request is 400 (GWC passes it on to the upstream)",
    400,
    "/service/wms?request=DescribeLayer&layers=ws:roads",
    'code="OperationNotSupported"',
  );

  transcript(
    "capabilities list tile sets if the request has tiled",
    `
  > GET /service/wms?request=GetCapabilities&version=1.1.1&tiled=true
  < 200 application/vnd.ogc.wms_xml
  <
  < {any}<VendorSpecificCapabilities>{any}<TileSet>{any}
`,
  );
  transcript(
    "feature info goes to the upstream as requested",
    `
  > GET /service/wms?request=GetFeatureInfo&version=1.1.1&layers=ws:roads&query_layers=ws:roads&srs=EPSG:4326&bbox=1,2,3,4&width=100&height=90&x=7&y=9&info_format=text/plain
  < 200 text/plain
  <
  < QUERY_LAYERS=roads INFO_FORMAT=text/plain WIDTH=100 HEIGHT=90 X=7 Y=9 FEATURE_COUNT=null BBOX=1,2,3,4
`,
  );
});

describe("5.5 cached=false of GMaps, mobile GMaps and Virtual Earth", () => {
  for (const path of ["gmaps?zoom=3&x=1&y=0", "mgmaps?zoom=14&x=1&y=0", "ve?quadkey=001"]) {
    const bypassed = `
  > GET /service/${path}&layers=ws:roads&format=image/png&cached=false&metatiled=false
  < 200 image/png
  < geowebcache-cache-result: MISS
  < Cache-Status: Nuthatch; fwd=bypass
  <
  < {any}
`;
    transcript(
      `${path} renders the tile each time, and stores none (GWC: 400)`,
      `${bypassed}${bypassed}
  > GET /service/${path}&layers=ws:roads&format=image/png
  > Cache-Control: only-if-cached
  < 504 text/plain
  <
  < {any}
`,
    );
    transcript(
      `${path} of a layer that does not allow it is 400 with GWC's sentence`,
      `
  > GET /service/${path}&layers=plain&format=image/png&cached=false
  < 400 text/plain
  <
  < Layer plain is not configured to allow bypassing the cache.
  > GET /service/${path}&layers=plain&format=image/png&cached=true
  < 200 image/png
  <
  < {any}
`,
    );
  }
});
