import type { Extent } from "../../grid/grid-set.ts";
import type { XyzSourceOptions } from "../../layer/source-options.ts";
import { createHttpSource, type SourceParts } from "../http/http-source.ts";
import { setParameters, withQuery } from "../http/query.ts";
import { type RenderRequest, type Source, SourceError } from "../source.ts";
import { arcgisPath, tileCachePath } from "./layout-path.ts";
import { quadkey } from "./quadkey.ts";
import { fillTemplate, tileOf } from "./tile-template.ts";

/** Creates the source of tiles whose addresses follow a template: XYZ, TMS (`{-y}`), quadkeys (`{q}`), boxes. */
export const createXyzSource = (options: XyzSourceOptions, parts: SourceParts): Source =>
  createHttpSource(options, { picture: (address, request) => xyzUrl(address, options, request) }, parts);

/** Returns the address of a tile. @throws SourceError if the picture is not a single tile */
export function xyzUrl(address: string, options: XyzSourceOptions, request: RenderRequest): URL {
  const { z, x, fromTop, fromBottom } = tileOf(request);
  const { subdomains } = options;
  const paths: Readonly<Record<string, string>> = {
    bbox: boxText(request.extent),
    tc: tileCachePath(z, x, fromTop),
    "-tc": tileCachePath(z, x, fromBottom),
    arcgis: arcgisPath(z, x, fromTop),
    "-arcgis": arcgisPath(z, x, fromBottom),
  };
  // The slashes and commas of these values are not escaped.
  const withPaths = address.replace(/\{(bbox|-?tc|-?arcgis)\}/g, (whole, name: string) => paths[name] ?? whole);
  const filled = fillTemplate(withPaths, (name) => {
    switch (name) {
      case "z":
        return String(z);
      case "x":
        return String(x);
      case "y":
        return String(fromTop);
      case "-y":
        return String(fromBottom);
      case "q":
        if (z === 0) throw new SourceError("no_tile", "level 0 has no quadkey");
        return quadkey(x, fromTop, z);
      case "s":
        // The tile determines the subdomain, so that caches on the way see one address per tile.
        return subdomains[(x + fromTop) % subdomains.length];
      default:
        return undefined;
    }
  });
  return withQuery(filled, options.vendorParameters, setParameters(request.parameters));
}

/** Writes as many decimals as MapProxy. */
const boxText = ({ minX, minY, maxX, maxY }: Extent): string =>
  [minX, minY, maxX, maxY].map((side) => side.toFixed(8)).join(",");
