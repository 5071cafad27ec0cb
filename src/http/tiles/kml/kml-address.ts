import { asZoom, canonicalSrs } from "../../../grid/grid-set.ts";
import type { Catalogue } from "../../../layer/catalogue.ts";
import { parseParameters } from "../../../layer/filter/parameter-filter.ts";
import type { GridSubset } from "../../../layer/grid-subset.ts";
import type { Layer } from "../../../layer/layer.ts";
import { writeZip } from "../../../lib/file/zip.ts";
import type { Refusal } from "../../../lib/refusal.ts";
import { ok, type Result } from "../../../lib/result.ts";
import type { Query } from "../../query.ts";
import { splitExtension } from "../address.ts";
import {
  findFormatOfExtension,
  findLayer,
  notFound,
  offeredTile,
  type ParsedAddress,
  type RequestedDocument,
  type WholeDocument,
} from "../tile-parts.ts";
import { firstTiles, type KmlLayer, MOST_LINKS, overlayArchive, overlayNode, superOverlay } from "./kml-documents.ts";

const WORDS =
  "KML is /service/kml/{layer}.{ext}.kml or .kmz, and the addresses in its links: /service/kml/{layer}/x{x}y{y}z{z}.{ext}[.kml|.kmz]";

/**
 * Returns a document of a super-overlay. It is not stored, because there are as many documents as tiles, and writing
 * one is fast.
 */
const kmlDocument = (write: WholeDocument["write"]): RequestedDocument => ({
  kind: "document",
  name: "kml",
  contentType: "application/vnd.google-earth.kml+xml",
  isStored: false,
  write,
});

const KMZ_TYPE = "application/vnd.google-earth.kmz";

const kmzDocument = (write: (baseUrl: string) => string): RequestedDocument => ({
  kind: "document",
  name: "kmz",
  contentType: KMZ_TYPE,
  isStored: false,
  write: (baseUrl) => writeZip([{ name: "doc.kml", bytes: Buffer.from(write(baseUrl)) }]),
});

/**
 * Parses GWC's `/service/kml`: super-overlays of EPSG:4326 with a document per tile that links to the next level, and
 * the tiles. `rest` is the remaining path.
 */
export function parseKml(catalogue: Catalogue, rest: readonly string[], query: Query): Result<ParsedAddress, Refusal> {
  const [first = "", second] = rest;
  if (rest.length < 1 || rest.length > 2) return notFound(WORDS);
  const last = splitExtension(second ?? first);
  const isArchive = last.extension === "kmz";
  const isDocument = isArchive || last.extension === "kml";
  if (second === undefined && !isDocument) return notFound(WORDS);
  const named = isDocument ? splitExtension(last.stem) : last;
  const found = layerOf(catalogue, second === undefined ? named.stem : first, named.extension, query);
  if (!found.ok) return found;
  const kml = found.value;
  if (second === undefined) {
    const tiles = firstTiles(kml.subset);
    if (tiles === undefined)
      return notFound(`The layer's first level has more than ${MOST_LINKS} tiles: too many to link to`);
    return isArchive
      ? ok(kmzDocument((baseUrl) => superOverlay(kml, tiles, baseUrl, ".kmz")))
      : ok(kmlDocument((baseUrl) => superOverlay(kml, tiles, baseUrl, ".kml")));
  }
  const [, x, y, z] = /^x(\d+)y(\d+)z(\d+)$/.exec(named.stem) ?? [];
  if (x === undefined || y === undefined || z === undefined) return notFound(WORDS);
  const tile = offeredTile(kml, { z: asZoom(Number(z)), column: Number(x), row: Number(y), rows: "bottom" });
  if (!tile.ok || !isDocument) return tile;
  const { request } = tile.value;
  const { index } = request;
  if (isArchive)
    return ok({
      kind: "packed",
      request,
      contentType: KMZ_TYPE,
      pack: (picture, baseUrl) => overlayArchive(kml, index, picture, baseUrl),
    });
  return ok(kmlDocument((baseUrl) => overlayNode(kml, index, baseUrl)));
}

/**
 * Returns the grid subset of a layer that has KML: the grid set EPSG:4326, as in GWC, else the first one in this CRS,
 * the only CRS of KML. Undefined if the layer has no such subset.
 */
export const kmlSubset = ({ gridSubsets }: Pick<Layer, "gridSubsets">): GridSubset | undefined =>
  gridSubsets.find(({ gridSet }) => gridSet.id === "EPSG:4326") ??
  gridSubsets.find(({ gridSet }) => canonicalSrs(gridSet.srs) === 4326);

function layerOf(
  catalogue: Catalogue,
  name: string,
  extension: string | undefined,
  query: Query,
): Result<KmlLayer, Refusal> {
  const layer = findLayer(catalogue, name);
  if (!layer.ok) return layer;
  const subset = kmlSubset(layer.value);
  if (subset === undefined) return notFound("The layer has no grid set in EPSG:4326, the only CRS of KML");
  const format = findFormatOfExtension(layer.value, extension);
  if (!format.ok) return format;
  const parameters = parseParameters(layer.value.parameterFilters, query, "ignore");
  if (!parameters.ok) return parameters;
  return ok({ layer: layer.value, subset, format: format.value, parameters: parameters.value });
}
