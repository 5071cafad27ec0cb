import { expect, test } from "vitest";
import { list, map, type RootedDocument } from "./document-node.ts";
import { layerFault } from "./layer-fault.ts";
import { layerContent, shownLayer, withShownAddresses } from "./layer-object.ts";

const subset = (gridSet: string, zoomStop: number) =>
  map([
    ["gridSetName", gridSet],
    ["zoomStop", zoomStop],
  ]);

const layer = (fields: readonly (readonly [string, ReturnType<typeof list>])[]): RootedDocument => ({
  root: "wmsLayer",
  node: map([["name", "a"], ["wmsUrl", list("string", ["http://127.0.0.1:9/wms"])], ...fields]),
});

test.each([[[4]], [[4, 5, 6]]])(
  "a metatile of the numbers %j in a file is GeoWebCache's, and refused over HTTP",
  (tiles) => {
    const document = layer([["metaWidthHeight", list("int", tiles)]]);
    expect(layerContent(document)["metatile"]).toEqual([3, 3]);
    expect(layerFault(document)).toBe(`metaWidthHeight: expected 2 whole numbers, got ${tiles.length}`);
  },
);

test("of two subsets of one grid set a file has the last, and both are refused over HTTP", () => {
  const document = layer([["gridSubsets", list("gridSubset", [subset("EPSG:4326", 3), subset("EPSG:4326", 5)])]]);
  expect(layerContent(document)["gridSubsets"]).toEqual([{ gridSet: "EPSG:4326", zoomStop: 5 }]);
  expect(layerFault(document)).toBe('gridSubsets[1].gridSetName: "EPSG:4326" is already offered');
});

test("an address is shown with a question mark, whether the layer stands in a file or was made over HTTP", () => {
  const ofFile = withShownAddresses(layer([]));
  const addresses = (document: RootedDocument) => layerContent(document)["source"];
  expect(addresses(ofFile)).toMatchObject({ url: expect.stringMatching(/\?$/) });
  expect(addresses(shownLayer(layer([]), "reader"))).toMatchObject({ url: "http://127.0.0.1:9/wms?" });
});
