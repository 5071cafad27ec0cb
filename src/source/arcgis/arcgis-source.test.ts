import { describe, expect, test } from "vitest";
import { formatNamed } from "../../../test/support/layer.ts";
import type { ArcgisExportOptions, ArcgisTileOptions, UpstreamOptions } from "../../layer/source-options.ts";
import { tileRequest, UNHEARD } from "../source.conformance.ts";
import { describeTileSource } from "../tile-source.conformance.ts";
import { arcgisUrl, createArcgisSource } from "./arcgis-source.ts";

const UPSTREAM: UpstreamOptions = { url: "http://u/", timeoutMs: 2000, connections: 2, vendorParameters: {} };
const TILE: ArcgisTileOptions = { ...UPSTREAM, type: "arcgis", mode: "tile" };
const EXPORT: ArcgisExportOptions = { ...UPSTREAM, type: "arcgis", mode: "export", layers: [], transparent: true };
const SERVICE = "http://u/arcgis/rest/services/Roads/MapServer";

describeTileSource("arcgis, tiles of its cache", {
  create: (origins) =>
    createArcgisSource({ ...TILE, url: origins.map((origin) => `${origin}/Roads/MapServer`) }, UNHEARD),
  path: "/Roads/MapServer/tile/2/2/2",
});

test("a tile is level, row from the top, column; what the address has in its query stays", () => {
  const { href } = arcgisUrl(`${SERVICE}/?token=t`, TILE, tileRequest("EPSG:900913", [3, 4, 5]));
  expect(href).toBe(`${SERVICE}/tile/5/27/3?token=t`);
});

describe("an export", () => {
  const metatile = {
    ...tileRequest("EPSG:4326", [0, 0, 3]),
    extent: { minX: -10, minY: 20, maxX: 1e-7, maxY: 24.5 },
    width: 300,
    height: 200,
  };
  const requested = (options: Partial<ArcgisExportOptions>, request = metatile, address = SERVICE) => {
    const url = arcgisUrl(address, { ...EXPORT, ...options }, request);
    return { path: url.pathname, ...Object.fromEntries(url.searchParams) };
  };

  test("is requested for any bounding box and size, x first in every CRS", () => {
    expect(requested({})).toEqual({
      path: "/arcgis/rest/services/Roads/MapServer/export",
      bbox: "-10,20,0.0000001,24.5",
      bboxSR: "4326",
      imageSR: "4326",
      size: "300,200",
      format: "png32",
      transparent: "true",
      f: "image",
    });
  });

  test("calls web mercator 3857, whatever the grid set calls it", () => {
    expect(requested({}, tileRequest("EPSG:900913", [0, 0, 0]))).toMatchObject({ bboxSR: "3857", imageSR: "3857" });
  });

  test.each([
    ["image/png", "png32", "true"],
    ["image/png8", "png32", "true"],
    ["image/webp", "png32", "true"],
    ["image/gif", "png32", "true"],
    ["image/jpeg", "jpg", "false"],
  ])("for %s is of format %s", (mimeType, format, transparent) => {
    expect(requested({}, { ...metatile, format: formatNamed(mimeType) })).toMatchObject({ format, transparent });
  });

  test("shows the layers that are configured, or those of a filter", () => {
    expect(requested({ layers: [0, 12] })).toMatchObject({ layers: "show:0,12" });
    const chosen = { ...metatile, parameters: { LAYERS: "show:3", TIME: "2024", LAYERDEFS: "" } };
    expect(requested({ layers: [0, 12] }, chosen)).toMatchObject({ layers: "show:3", time: "2024" });
    expect(Object.keys(requested({}, chosen))).not.toContain("layerDefs");
  });

  test("can be made neither smaller nor other by a parameter filter or by the address", () => {
    const odd = { ...metatile, parameters: { SIZE: "1,1", BBOX: "0,0,1,1", F: "json" } };
    const query = requested({ vendorParameters: { dpi: "192" } }, odd, `${SERVICE}?size=2,2&F=html`);
    expect(query).toMatchObject({ size: "300,200", bbox: "-10,20,0.0000001,24.5", f: "image", dpi: "192" });
    const names = Object.keys(query).map((key) => key.toLowerCase());
    expect(names, "none twice").toHaveLength(new Set(names).size);
  });
});
