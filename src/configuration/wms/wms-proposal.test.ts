import { expect, test } from "vitest";
import type { WmsCatalogue, WmsCatalogueLayer } from "../../source/wms/wms-catalogue.ts";
import { capabilitiesAddress, pictureAddress, wmsProposal } from "./wms-proposal.ts";

const LAYER: WmsCatalogueLayer = {
  name: "roads",
  title: "Roads",
  abstract: "",
  queryable: false,
  crs: new Set(["EPSG:4326"]),
  box: [5, 47, 15, 52],
  boxes: new Map(),
  styles: [],
  legends: new Map(),
  dimensions: [],
};
const WMS: WmsCatalogue = {
  version: "1.3.0",
  title: "A WMS",
  formats: ["image/png"],
  maxWidth: undefined,
  maxHeight: undefined,
  layerLimit: undefined,
  layers: [LAYER],
};
const URL_OF_WMS = "http://maps.example.org/wms?map=a&request=GetMap";

test("the capabilities are asked with the parameters that the address needs", () => {
  expect(capabilitiesAddress(URL_OF_WMS).href).toBe(
    "http://maps.example.org/wms?map=a&SERVICE=WMS&REQUEST=GetCapabilities",
  );
});

test("a proposal has each layer once, and says which layers it leaves out", () => {
  const nowhere = { ...LAYER, name: "nowhere", crs: new Set(["EPSG:25832"]) };
  const proposal = wmsProposal([LAYER, LAYER, nowhere], WMS, { url: URL_OF_WMS, prefix: "ws:" });
  expect(proposal).toMatchObject({
    ok: true,
    value: {
      document: { layers: [{ name: "ws:roads", title: "Roads", source: { layers: ["roads"] } }] },
      layers: [{ name: "roads" }],
      warnings: [expect.stringMatching(/more than one layer roads/), expect.stringMatching(/nowhere is left out/)],
    },
  });
  expect(wmsProposal([nowhere], WMS, { url: URL_OF_WMS })).toMatchObject({ ok: false });
});

test("a picture has the shape of the layer, and the axis order of the version", () => {
  const query = (wms: WmsCatalogue) => Object.fromEntries(pictureAddress(URL_OF_WMS, LAYER, wms)?.searchParams ?? []);
  expect(query(WMS)).toMatchObject({ map: "a", CRS: "EPSG:4326", BBOX: "47,5,52,15", WIDTH: "240", HEIGHT: "120" });
  expect(query({ ...WMS, version: "1.1.1" })).toMatchObject({ SRS: "EPSG:4326", BBOX: "5,47,15,52" });
  const own = new Map([["EPSG:25832", { minX: 2e5, minY: 5e6, maxX: 9e5, maxY: 6e6 }]]);
  const national = { ...LAYER, crs: new Set(["EPSG:25832"]), boxes: own };
  expect(pictureAddress(URL_OF_WMS, national, WMS)?.searchParams.get("BBOX")).toBe("200000,5000000,900000,6000000");
  expect(pictureAddress(URL_OF_WMS, { ...LAYER, box: undefined }, WMS)).toBeUndefined();
});
