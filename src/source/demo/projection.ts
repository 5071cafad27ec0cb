import proj4 from "proj4";
import { ATLAS } from "../../grid/coordinate-systems.ts";
import { canonicalSrs } from "../../grid/grid-set.ts";
import { mercatorX, mercatorY } from "../../grid/web-mercator.ts";
import { SourceError } from "../source.ts";

/** Where web mercator's square ends. */
const MAX_LATITUDE = 85.06;

export interface Projection {
  readonly project: (lon: number, lat: number) => readonly [number, number];
  /** A longitude and the same a turn further are one point. */
  readonly wraps: boolean;
}

const mercator = (lon: number, lat: number): readonly [number, number] => [
  mercatorX(lon),
  mercatorY(Math.max(-MAX_LATITUDE, Math.min(MAX_LATITUDE, lat))),
];

/** From degrees to the units of a CRS. @throws SourceError for one that the demo does not know */
export function projectionOf(srs: number): Projection {
  switch (canonicalSrs(srs)) {
    case 4326:
      return { project: (lon, lat) => [lon, lat], wraps: false };
    case 3857:
      return { project: mercator, wraps: false };
    case 2163: {
      const { forward } = proj4(ATLAS);
      const project = (lon: number, lat: number): readonly [number, number] => {
        const [x, y] = forward([lon, lat]);
        return [x, y];
      };
      return { project, wraps: true };
    }
    default:
      throw new SourceError("exception", `the demo layers cannot be drawn in EPSG:${srs}`);
  }
}
