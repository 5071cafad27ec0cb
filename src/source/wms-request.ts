import { canonicalSrs, type GridSet } from "../grid/grid-set.ts";
import type { WmsSourceOptions } from "../layer/layer.ts";
import { decimal, setParameters, withQuery } from "./query.ts";
import type { DrawRequest } from "./source.ts";

/**
 * Whether WMS 1.3.0 wants y first: the CRS's own axis order (OGC 06-042, 6.7.3.3). Web mercator is x first, whatever
 * GWC's WebMercatorQuad says.
 */
export const isYFirst = ({ srs, yCoordinateFirst }: GridSet): boolean =>
  (srs >= 4000 && srs < 5000) || (yCoordinateFirst && canonicalSrs(srs) !== 3857);

/** The GetMap of a picture. Keys of the configured address that name the same thing are replaced. */
export function wmsUrl(address: string, options: WmsSourceOptions, request: DrawRequest): URL {
  const { gridSet, extent, width, height, format, parameters } = request;
  const is13 = options.version === "1.3.0";
  const code = is13 ? canonicalSrs(gridSet.srs) : gridSet.srs;
  const { minX, minY, maxX, maxY } = extent;
  const box = is13 && isYFirst(gridSet) ? [minY, minX, maxY, maxX] : [minX, minY, maxX, maxY];
  const wanted: Record<string, string> = {
    SERVICE: "WMS",
    VERSION: options.version,
    REQUEST: "GetMap",
    LAYERS: options.layers.join(","),
    STYLES: options.styles.join(","),
    // MapServer draws a JPEG that shall be transparent on black.
    TRANSPARENT: options.transparent && format.encoding !== "jpeg" ? "TRUE" : "FALSE",
    FORMAT: format.contentType,
    EXCEPTIONS: is13 ? "XML" : "application/vnd.ogc.se_xml",
    [is13 ? "CRS" : "SRS"]: `EPSG:${code}`,
    BBOX: box.map(decimal).join(","),
    WIDTH: String(width),
    HEIGHT: String(height),
  };
  for (const [key, value] of Object.entries(options.vendorParameters)) wanted[key.toUpperCase()] = value;
  for (const [key, value] of Object.entries(setParameters(parameters))) wanted[key.toUpperCase()] = value;
  return withQuery(address, wanted);
}
