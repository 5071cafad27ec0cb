import fc from "fast-check";
import { expect, test } from "vitest";
import { readWmsCatalogue } from "./wms-catalogue.ts";

const OLD = `<?xml version="1.0"?>
<!DOCTYPE WMT_MS_Capabilities SYSTEM "http://example.org/capabilities.dtd" [ <!ELEMENT VendorSpecificCapabilities EMPTY> ]>
<WMT_MS_Capabilities version="1.1.1">
  <Service><Name>OGC:WMS</Name><Title>Old &amp; good</Title></Service>
  <Capability>
    <Request><GetMap><Format>image/png</Format><Format>image/jpeg</Format></GetMap></Request>
    <Layer>
      <Title>all</Title>
      <SRS>EPSG:4326 epsg:3857</SRS>
      <LatLonBoundingBox minx="-10" miny="40" maxx="10" maxy="60"/>
      <Layer queryable="1">
        <Name>rain</Name>
        <Title>Rain</Title>
        <SRS>EPSG:2154</SRS>
        <Style><Name>blue</Name><LegendURL width="40" height="60"><Format>image/gif</Format><OnlineResource xlink:href="http://a/blue.gif"/></LegendURL></Style><Style><Name>red</Name></Style>
        <Dimension name="time" units="ISO8601"/>
        <Extent name="time" default="2026-01-01">2026-01-01/2026-12-31/P1D</Extent>
      </Layer>
      <Layer><Title>a group</Title><Layer><Name>deep</Name></Layer></Layer>
    </Layer>
  </Capability>
</WMT_MS_Capabilities>`;

test("layers of 1.1.1 take over what those around them have", () => {
  const read = readWmsCatalogue(OLD);
  if (!read.ok) throw new Error(read.error);
  const { layers, ...service } = read.value;
  expect(service).toMatchObject({ version: "1.1.1", title: "Old & good", formats: ["image/png", "image/jpeg"] });
  expect(layers).toEqual([
    {
      name: "rain",
      title: "Rain",
      abstract: "",
      queryable: true,
      crs: new Set(["EPSG:4326", "EPSG:3857", "EPSG:2154"]),
      box: [-10, 40, 10, 60],
      boxes: new Map(),
      styles: ["blue", "red"],
      legends: new Map([["blue", { width: 40, height: 60, format: "image/gif", url: "http://a/blue.gif" }]]),
      dimensions: [{ name: "TIME", default: "2026-01-01", values: ["2026-01-01/2026-12-31/P1D"] }],
    },
    {
      name: "deep",
      title: "deep",
      abstract: "",
      queryable: false,
      crs: new Set(["EPSG:4326", "EPSG:3857"]),
      box: [-10, 40, 10, 60],
      boxes: new Map(),
      styles: [],
      legends: new Map(),
      dimensions: [],
    },
  ]);
});

test("1.3.0 has its box in elements, its dimensions in one, its limits in the service, and any prefix", () => {
  const read = readWmsCatalogue(`<wms:WMS_Capabilities version="1.3.0" xmlns:wms="http://www.opengis.net/wms">
  <wms:Service><wms:Title>t</wms:Title><wms:MaxWidth>512</wms:MaxWidth><wms:MaxHeight>700</wms:MaxHeight></wms:Service>
  <wms:Capability><wms:Layer><wms:Name>a</wms:Name><wms:CRS>EPSG:4326</wms:CRS>
    <wms:EX_GeographicBoundingBox><wms:westBoundLongitude>1</wms:westBoundLongitude><wms:eastBoundLongitude>3</wms:eastBoundLongitude><wms:southBoundLatitude>2</wms:southBoundLatitude><wms:northBoundLatitude>4</wms:northBoundLatitude></wms:EX_GeographicBoundingBox>
    <wms:BoundingBox CRS="EPSG:4326" minx="2" miny="1" maxx="4" maxy="3"/><wms:BoundingBox CRS="EPSG:25832" minx="5" miny="6" maxx="7" maxy="8"/>
    <wms:Dimension name="elevation" default="0">0, 10,20</wms:Dimension>
  </wms:Layer></wms:Capability></wms:WMS_Capabilities>`);
  expect(read).toMatchObject({
    ok: true,
    value: {
      version: "1.3.0",
      maxWidth: 512,
      maxHeight: 700,
      layers: [
        {
          name: "a",
          box: [1, 2, 3, 4],
          boxes: new Map([
            ["EPSG:4326", { minX: 1, minY: 2, maxX: 3, maxY: 4 }],
            ["EPSG:25832", { minX: 5, minY: 6, maxX: 7, maxY: 8 }],
          ]),
          dimensions: [{ name: "ELEVATION", default: "0", values: ["0", "10", "20"] }],
        },
      ],
    },
  });
});

test("a document of another kind is reported by its own text, and no input makes the reader throw", () => {
  expect(
    readWmsCatalogue(
      "<ServiceExceptionReport><ServiceException>no such map</ServiceException></ServiceExceptionReport>",
    ),
  ).toEqual({
    ok: false,
    error: "expected WMS capabilities, got ServiceExceptionReport: no such map",
  });
  expect(
    readWmsCatalogue("<HTML><HEAD><TITLE>MapServer Message</TITLE></HEAD><BODY>msLoadMap(): no map</BODY></HTML>"),
  ).toEqual({
    ok: false,
    error: "expected WMS capabilities, got HTML: MapServer Message msLoadMap(): no map",
  });
  expect(readWmsCatalogue("<p>out of<br>order")).toEqual({
    ok: false,
    error: expect.stringMatching(/^no XML .*: out of order$/),
  });
  expect(readWmsCatalogue("hello").ok).toBe(false);
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.nat(OLD.length).map((n) => OLD.slice(0, n) + OLD.slice(n + 3)),
      ),
      (xml) => {
        expect(readWmsCatalogue(xml)).toHaveProperty("ok");
      },
    ),
  );
});
