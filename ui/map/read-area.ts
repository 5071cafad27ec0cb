import Feature from "ol/Feature.js";
import GeoJSON from "ol/format/GeoJSON.js";
import WKT from "ol/format/WKT.js";
import MultiPolygon from "ol/geom/MultiPolygon.js";
import Polygon from "ol/geom/Polygon.js";
import type { GridSubset } from "./grid.ts";
import type { Polygons } from "./map-surface.ts";

/** The codes of web mercator. */
const MERCATOR = [3857, 900913, 102100, 102113];
const canonical = (srs: number): number => (MERCATOR.includes(srs) ? 3857 : srs);

/**
 * Returns the polygons of a GeoJSON or WKT text in the CRS of a grid set. Undefined if the text is neither, or this
 * page cannot transform its CRS. The server parses the text again, and knows every CRS.
 */
export function readArea(text: string, areaCrs: string, subset: GridSubset): Polygons | undefined {
  const isGeoJson = text.trimStart().startsWith("{");
  const [, ewkt] = /^\s*SRID=(\d+);/i.exec(text) ?? [];
  const given = Number(/(\d+)\s*$/.exec(areaCrs)?.[1] ?? ewkt ?? crsOfGeoJson(text) ?? (isGeoJson ? 4326 : subset.srs));
  const [from, to] = [canonical(given), canonical(subset.srs)];
  if (from !== to && !(isKnown(from) && isKnown(to))) return undefined;
  const options = from === to ? {} : { dataProjection: `EPSG:${from}`, featureProjection: `EPSG:${to}` };
  try {
    const features = isGeoJson
      ? new GeoJSON().readFeatures(text, options)
      : new WKT().readFeatures(text.replace(/^\s*SRID=\d+;/i, ""), options);
    return features.flatMap((feature) => polygonsOf(feature));
  } catch {
    return undefined;
  }
}

/** Returns whether OpenLayers can transform a CRS without a further library. */
const isKnown = (srs: number): boolean => srs === 4326 || srs === 3857;

/** Returns the code in the `crs` member of old GeoJSON. Undefined without one. */
const crsOfGeoJson = (text: string): string | undefined =>
  /"urn:ogc:def:crs:EPSG:[\d.]*:(\d+)"|"EPSG:(\d+)"/.exec(text)?.slice(1).find(Boolean);

function polygonsOf(feature: unknown): Polygons {
  const geometry = feature instanceof Feature ? feature.getGeometry() : undefined;
  const all =
    geometry instanceof Polygon
      ? [geometry.getCoordinates()]
      : geometry instanceof MultiPolygon
        ? geometry.getCoordinates()
        : [];
  return all.map((rings) => rings.map((ring) => ring.map(([x = 0, y = 0]): readonly [number, number] => [x, y])));
}
