import { expect, test } from "vitest";
import { formatNamed, gridSetNamed } from "../../../test/support/layer.ts";
import { archiveFault } from "./archive-fault.ts";

const fault = (kind: "mbtiles" | "pmtiles", grid: string, format: string, maxZoom = 10): string =>
  archiveFault(kind, gridSetNamed(grid), formatNamed(format), maxZoom) ?? "none";

test("archives have web mercator in tiles of 256 x 256, in the formats that they know", () => {
  for (const grid of ["EPSG:900913", "WebMercatorQuad"]) expect(fault("mbtiles", grid, "image/png")).toBe("none");
  for (const format of ["image/png8", "image/jpeg", "image/webp", "image/avif", "application/x-protobuf"])
    for (const kind of ["mbtiles", "pmtiles"] as const) expect(fault(kind, "EPSG:900913", format), format).toBe("none");
  expect(fault("mbtiles", "EPSG:900913", "image/gif")).toBe("none");
});

test("another grid set or format is refused with its name and with what to do", () => {
  for (const grid of ["EPSG:4326", "EPSG:900913x2"])
    expect(fault("mbtiles", grid, "image/png")).toMatch(new RegExp(`unlike the grid set ${grid}: .*--to DIR`));
  expect(fault("pmtiles", "EPSG:900913", "image/gif")).toContain("PMTiles has no tiles in image/gif");
  for (const format of ["image/vnd.jpeg-png", "application/json;type=geojson"])
    expect(fault("mbtiles", "EPSG:900913", format)).toContain(`MBTiles has no tiles in ${format}`);
  expect(fault("pmtiles", "EPSG:900913", "image/png", 27)).toContain("PMTiles has no level 27");
});
