import { expect, test } from "vitest";
import { cpuMs } from "../../test/support/cpu-time.ts";
import { contentTypeOf, formatNames, formatOf, formatOfExtension, type TileFormat } from "./format.ts";

function format(mimeType: string): TileFormat {
  const found = formatOf(mimeType);
  if (found === undefined) throw new Error(mimeType);
  return found;
}

test("every format is found by its MIME type and by its extension, whatever the case of the type", () => {
  for (const name of formatNames) {
    expect(formatOf(name.toUpperCase())).toBe(format(name));
    expect(formatOfExtension(format(name).extension)).toBe(format(name));
  }
  expect(formatOf("image/jpg")).toBe(format("image/jpeg"));
  expect(formatOfExtension("jpg")).toBe(format("image/jpeg"));
  const vector = format("application/vnd.mapbox-vector-tile");
  expect(formatOf("application/x-protobuf; type=mapbox-vector")).toBe(vector);
  expect(formatOf("application/x-protobuf")).toBe(vector);
  expect(formatOfExtension("mvt")).toBe(vector);
  expect(formatOf("application/json; type=GeoJSON")).toBe(format("application/json;type=geojson"));
  expect(formatOf("application/json")).toBeUndefined();
});

test("extensions are GWC's, so that its tiles are found", () => {
  expect(Object.fromEntries(formatNames.map((name) => [name, format(name).extension]))).toEqual({
    "image/png": "png",
    "image/png8": "png8",
    "image/png24": "png24",
    "image/png; mode=24bit": "png_24",
    "image/jpeg": "jpeg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/avif": "avif",
    "image/vnd.jpeg-png": "jpeg-png",
    "image/vnd.jpeg-png8": "jpeg-png8",
    "application/vnd.mapbox-vector-tile": "pbf",
    "application/json;type=geojson": "geojson",
    "application/json;type=topojson": "topojson",
    "application/json;type=utfgrid": "utfgrid",
  });
});

test("a suffix of a picture's type that names no format is cut off, as in GWC", () => {
  for (const name of [
    "image/png; mode=24bit",
    "image/png;mode=24bit",
    "IMAGE/PNG ; MODE=24bit",
    "image/png;%20mode=24bit",
  ])
    expect(formatOf(name)).toBe(format("image/png; mode=24bit"));
  for (const [name, cut] of [
    ["image/png; mode=8bit", "image/png"],
    ["image/png8;x", "image/png8"],
    ["image/png24; mode=24bit", "image/png24"],
    ["image/jpeg;quality=80", "image/jpeg"],
    ["image/jpg; quality=80; progressive", "image/jpeg"],
    ["image/gif;", "image/gif"],
    ["image/vnd.jpeg-png;v=1", "image/vnd.jpeg-png"],
  ] as const)
    expect(formatOf(name)).toBe(format(cut));
  for (const none of ["image/tiff; mode=24bit", "application/json;type=none", "application/vnd.mapbox-vector-tile;v=2"])
    expect(formatOf(none)).toBeUndefined();
});

test("a hybrid's Content-Type is read from the tile, any other format's is fixed", () => {
  const jpeg = Uint8Array.of(0xff, 0xd8, 0xff);
  const png = Uint8Array.of(0x89, 0x50, 0x4e);
  for (const name of ["image/vnd.jpeg-png", "image/vnd.jpeg-png8"]) {
    expect(contentTypeOf(format(name), jpeg)).toBe("image/jpeg");
    expect(contentTypeOf(format(name), png)).toBe("image/png");
  }
  expect(contentTypeOf(format("image/png8"), png)).toBe("image/png");
  expect(contentTypeOf(format("image/avif"), jpeg)).toBe("image/avif");
  expect(contentTypeOf(format("application/json;type=utfgrid"), Buffer.from("{}"))).toBe("application/json");
});

test.each([" ", "+", ";", " ;", "; ", "a"])("1 MiB of %j in a type is refused without a look at all of it", (text) => {
  const type = `a/${text.repeat(1024 * 1024)}x`;
  expect(cpuMs(() => expect(formatOf(type)).toBeUndefined())).toBeLessThan(200);
});
