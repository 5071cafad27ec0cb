import { isNorthFirst } from "../../grid/crs/axis-order.ts";
import type { Extent } from "../../grid/grid-set.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { withQuery } from "../../source/http/query.ts";
import type { WmsCatalogue, WmsCatalogueLayer } from "../../source/wms/wms-catalogue.ts";
import { type ImportSettings, importedDocument } from "./import-document.ts";
import { importedGrids } from "./import-grids.ts";

/** What a server can cache of a WMS. */
export interface WmsProposal {
  /** A configuration, in the shape of its file. Its layers are in the order of `layers`. */
  readonly document: ReturnType<typeof importedDocument>;
  /** The layers of the WMS that are taken. */
  readonly layers: readonly WmsCatalogueLayer[];
  /** The layers that are left out, with the reasons. */
  readonly warnings: readonly string[];
}

/** Returns the address of the capabilities of a WMS, without the parameters of another request in its address. */
export function capabilitiesAddress(url: string): URL {
  const address = new URL(url);
  for (const key of [...address.searchParams.keys()])
    if (["service", "request", "version"].includes(key.toLowerCase())) address.searchParams.delete(key);
  address.searchParams.set("SERVICE", "WMS");
  address.searchParams.set("REQUEST", "GetCapabilities");
  return address;
}

/** Proposes the configuration of some layers of a WMS. Refuses a WMS without a layer that can be cached. */
export function wmsProposal(
  chosen: readonly WmsCatalogueLayer[],
  catalogue: WmsCatalogue,
  settings: ImportSettings,
): Result<WmsProposal, string> {
  const isFirst = ({ name }: WmsCatalogueLayer, i: number): boolean =>
    chosen.findIndex((other) => other.name === name) === i;
  const layers = chosen.filter(isFirst);
  if (layers.length === 0) return refuse(`the WMS at ${settings.url} offers no layer with a name`);
  const placed = layers.map((layer) => ({ layer, grids: importedGrids(layer) }));
  const twice = chosen
    .filter((layer, i) => !isFirst(layer, i))
    .map(({ name }) => `the WMS has more than one layer ${name}: the first one is taken`);
  const nowhere = placed
    .filter(({ grids }) => grids === undefined)
    .map(
      ({ layer }) =>
        `layer ${layer.name} is left out: the WMS renders it only in ${[...layer.crs].join(", ")}, and gives no extent in these`,
    );
  const cacheable = placed.flatMap(({ layer, grids }) => (grids === undefined ? [] : [{ layer, grids }]));
  if (cacheable.length === 0) return refuse(nowhere.join("\n"));
  return ok({
    document: importedDocument(cacheable, catalogue, settings),
    layers: cacheable.map(({ layer }) => layer),
    warnings: [...twice, ...nowhere],
  });
}

/** The longer side of a small picture of a layer, in pixels. */
const PICTURE_PX = 240;

/** Returns the address of a small picture of a whole layer. Undefined if the capabilities give no extent. */
export function pictureAddress(
  url: string,
  { name, crs, box, boxes }: WmsCatalogueLayer,
  { version, formats }: WmsCatalogue,
): URL | undefined {
  const isGeographic = crs.size === 0 || crs.has("EPSG:4326") || crs.has("CRS:84");
  const [own] = boxes;
  const [code, extent] =
    isGeographic && box !== undefined
      ? ["EPSG:4326", { minX: box[0], minY: box[1], maxX: box[2], maxY: box[3] }]
      : (own ?? [undefined, undefined]);
  if (code === undefined || extent === undefined) return undefined;
  const [across, up] = [extent.maxX - extent.minX, extent.maxY - extent.minY];
  if (!(across > 0 && up > 0)) return undefined;
  const pixels = (side: number): string => String(Math.max(1, Math.round((PICTURE_PX * side) / Math.max(across, up))));
  const format = ["image/png", "image/jpeg"].find((one) => formats.includes(one)) ?? "image/png";
  return withQuery(url, {
    SERVICE: "WMS",
    REQUEST: "GetMap",
    VERSION: version,
    LAYERS: name,
    STYLES: "",
    [version === "1.3.0" ? "CRS" : "SRS"]: code,
    BBOX: boxText(extent, version === "1.3.0" && isNorthFirst(Number(code.slice("EPSG:".length))) === true),
    WIDTH: pixels(across),
    HEIGHT: pixels(up),
    FORMAT: format,
    TRANSPARENT: "FALSE",
  });
}

const boxText = ({ minX, minY, maxX, maxY }: Extent, isYFirst: boolean): string =>
  (isYFirst ? [minY, minX, maxY, maxX] : [minX, minY, maxX, maxY]).join(",");
