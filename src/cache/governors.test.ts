import { expect, test } from "vitest";
import type { UpstreamOptions } from "../layer/layer.ts";
import { upstreamOf } from "./governors.ts";

const upstream = (url: UpstreamOptions["url"]): UpstreamOptions => ({
  url,
  timeoutMs: 1000,
  connections: 1,
  vendorParameters: {},
});

test("an upstream is the first server's scheme, host and port, whatever the kind of source and the path", () => {
  const wms = { type: "wms", version: "1.1.1", layers: [], styles: [], transparent: true } as const;
  expect(upstreamOf({ ...wms, ...upstream("http://u:81/a?b=c") })).toBe("http://u:81");
  expect(upstreamOf({ ...wms, ...upstream(["https://u/a", "http://v/b"]) })).toBe("https://u");
  expect(upstreamOf({ type: "xyz", subdomains: ["a", "b"], ...upstream("http://{s}.u/{z}/{x}/{y}") })).toBe(
    "http://a.u",
  );
  expect(upstreamOf({ type: "arcgis", mode: "tile", ...upstream(["http://u/MapServer", "http://v/MapServer"]) })).toBe(
    "http://u",
  );
  expect(
    upstreamOf({ type: "wmts", layer: "a", style: "", tileMatrixSet: "", ...upstream("http://u/{TileMatrix}") }),
  ).toBe("http://u");
  expect(upstreamOf({ type: "demo", dataset: "world", connections: 1 })).toBe("demo");
});
