import { expect, test } from "vitest";
import { cpuMs } from "../../../test/support/cpu-time.ts";
import { catalogue } from "../../../test/support/tile-protocols.ts";
import { parseRequested, routeOf } from "./tile-route.ts";

/** Returns an address of nearly the longest allowed length. */
const filled = (text: string): string => text.repeat(Math.floor((8 * 1024 - 300) / text.length));
const HOSTILE = ["+", "%20", "1", "a", "0", "-", ";", "+;", ",", "1,", "=", ".", ":", "*", "(", "'", "x1y1z1"];

const ADDRESSES = {
  "/service/wms": {
    REQUEST: "GetMap",
    LAYERS: "full",
    SRS: "EPSG:4326",
    FORMAT: "image/png",
    STYLES: "",
    WIDTH: "256",
    HEIGHT: "256",
    BBOX: "-180,-90,0,90",
    VERSION: "1.1.1",
    INFO_FORMAT: "text/plain",
  },
  "/service/wmts": {
    REQUEST: "GetTile",
    LAYER: "topp:states",
    TILEMATRIXSET: "EPSG:4326",
    TILEMATRIX: "EPSG:4326:1",
    TILEROW: "0",
    TILECOL: "0",
    FORMAT: "image/png",
    STYLE: "",
    CQL_FILTER: "A=1",
    TIME: "2020",
  },
  "/service/gmaps": { layers: "topp:states", zoom: "0", x: "0", y: "0", format: "image/png" },
  "/service/ve": { layers: "topp:states", quadkey: "0", format: "image/png" },
  "/tilejson/topp:states": { format: "image/png", CQL_FILTER: "A=1" },
  "/ogc/collections/topp:states/map/tiles/WebMercatorQuad/0/0/0": { f: "image/png", CQL_FILTER: "A=1" },
  "/xyz/topp:states/0/0/0.png": { CQL_FILTER: "A=1" },
  "/service/kml/topp:states.kml": { gridset: "EPSG:4326" },
};
const PATHS = [
  "/xyz/topp:states/0/0/#.png",
  "/xyz/#/0/0/0.png",
  "/service/tms/1.0.0/#/0/0/0.png",
  "/service/kml/topp:states/#.png.kml",
  "/service/kml/topp:states/x0y0z#.png",
  "/service/wmts/rest/topp:states/#/EPSG:4326/EPSG:4326:1/0/0",
  "/quadkey/topp:states/#.png",
  "/ogc/collections/#",
  "/tilejson/#",
];

/** Half the time of a quadratic expression over 8 KiB. */
const MOST_MS = 12;

function parse(path: string, query: string): void {
  const route = routeOf(path);
  if (route.ok) parseRequested(catalogue, route.value, query);
}
const slowOf = (path: string, query: string): unknown[] =>
  HOSTILE.flatMap((text) => {
    const write = (place: string): string => place.replace("#", () => filled(text));
    const measure = (): number => cpuMs(() => parse(write(path), write(query)));
    // The least of three measurements, because garbage collection may delay one of them.
    const ms = Math.min(measure(), measure(), measure());
    return ms > MOST_MS ? [{ text, ms }] : [];
  });

for (const [path, parameters] of Object.entries(ADDRESSES)) {
  for (const name of Object.keys(parameters)) {
    test(`8 KiB in ${name} of ${path} are parsed in linear time`, () => {
      const query = Object.entries({ ...parameters, [name]: "a#x" }).map(([key, value]) => `${key}=${value}`);
      expect(slowOf(path, query.join("&"))).toEqual([]);
      expect(slowOf(path, `${query.join("&")}&#`)).toEqual([]);
    });
  }
}

test.each(PATHS)("8 KiB in the path %s are parsed in linear time", (path) => {
  expect(slowOf(path, "")).toEqual([]);
});
