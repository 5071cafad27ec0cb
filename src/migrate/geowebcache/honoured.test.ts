import { expect, test } from "vitest";
import { list, map } from "../../configuration/gwc/document-node.ts";
import { elementReports } from "./honoured.ts";

test("each element is taken over, differently, or kept", () => {
  const layer = map([
    ["name", "a"],
    ["cachePrefix", "old"],
    ["wmsUrl", list("string", ["http://127.0.0.1:9/wms"])],
    ["gutter", 16],
    ["legends", map([["legend", { kind: "repeated", items: [map([["width", 30]], { style: "" })] }]])],
    ["ours", "unknown"],
  ]);
  const swift = map([
    ["id", "sw"],
    ["enabled", true],
  ]);
  const reports = elementReports([
    { kind: "layer", name: "a", document: { root: "wmsLayer", node: layer } },
    { kind: "store", name: "sw", document: { root: "SwiftBlobStore", node: swift } },
  ]);
  expect(reports.map(({ kind, path, outcome }) => `${kind} ${path}: ${outcome}`)).toEqual([
    "layer name: taken over",
    "layer cachePrefix: kept",
    "layer wmsUrl: taken over",
    "layer gutter: taken over",
    "layer legends.legend.@style: taken over",
    "layer legends.legend.width: taken over",
    "layer ours: kept",
    "store id: kept",
    "store enabled: kept",
  ]);
});

test("several addresses of a layer are taken over differently", () => {
  const node = map([
    ["name", "a"],
    ["wmsUrl", list("string", ["http://127.0.0.1:9/wms", "http://127.0.0.1:8/wms"])],
  ]);
  const reports = elementReports([{ kind: "layer", name: "a", document: { root: "wmsLayer", node } }]);
  expect(reports).toContainEqual(expect.objectContaining({ path: "wmsUrl", outcome: "differently" }));
});

test("formats that have no equivalent are named, KML is offered for every layer", () => {
  const node = map([
    ["name", "a"],
    ["mimeFormats", list("string", ["image/png", "image/tiff", "application/vnd.google-earth.kml+xml"])],
    ["wmsUrl", list("string", ["http://127.0.0.1:9/wms"])],
  ]);
  const reports = elementReports([{ kind: "layer", name: "a", document: { root: "wmsLayer", node } }]);
  expect(reports).toContainEqual(
    expect.objectContaining({ path: "mimeFormats", outcome: "differently", how: "without image/tiff" }),
  );
});
