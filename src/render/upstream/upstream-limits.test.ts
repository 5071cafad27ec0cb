import { expect, test } from "vitest";
import { layerNamed } from "../../../test/support/layer.ts";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import type { UpstreamOptions } from "../../layer/source-options.ts";
import { SharedTurn } from "../../lib/process/fair-line.ts";
import { UpstreamLimits, upstreamOf } from "./upstream-limits.ts";

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

const layerOf = (name: string, url: string) =>
  layerNamed(name, {
    source: { type: "wms", version: "1.1.1", layers: [], styles: [], transparent: true, ...upstream(url) },
  });
const NEVER = new AbortController().signal;

test("the limit of an upstream without layers is released when no render uses it", async () => {
  const upstreamLimits = new UpstreamLimits(new ManualClock());
  const known = () => upstreamLimits.states().map(({ upstream }) => upstream);
  const [a, b, c] = ["a", "b", "c"].map((name) => layerOf(name, `http://${name}/`));
  if (a === undefined || b === undefined || c === undefined) throw new Error("three layers");
  upstreamLimits.configure([a, b, c]);
  const used = upstreamLimits.of(b);
  await used.acquireForJob(NEVER);
  const waiting = used.acquireForUser(new SharedTurn("client"), 1_000, NEVER);
  upstreamLimits.configure([c]);
  expect(known()).toEqual(["http://b", "http://c"]);
  used.release("job");
  await waiting;
  expect(known()).toEqual(["http://b", "http://c"]);
  used.release("user");
  expect(known()).toEqual(["http://c"]);
});

test("an upstream that comes back while its last connection is in use has that one counted", async () => {
  const upstreamLimits = new UpstreamLimits(new ManualClock());
  const [a, b] = [layerOf("a", "http://a/"), layerOf("b", "http://b/")];
  upstreamLimits.configure([a, b]);
  const used = upstreamLimits.of(a);
  await used.acquireForJob(NEVER);
  upstreamLimits.configure([b]);
  upstreamLimits.configure([a, b]);
  expect(upstreamLimits.of(a)).toBe(used);
  used.release("job");
  expect(upstreamLimits.states().map(({ upstream, inUse }) => [upstream, inUse])).toEqual([
    ["http://a", 0],
    ["http://b", 0],
  ]);
});

test("layers that are added one after the other have the limits of all layers of a configuration", () => {
  const changed = (layer: ReturnType<typeof layerOf>, connections: number, url: UpstreamOptions["url"]) => ({
    ...layer,
    source: { ...layer.source, url, connections },
  });
  const layers = [
    changed(layerOf("a", "http://a/"), 4, "http://a/"),
    changed(layerOf("b", "http://a/"), 2, ["http://a/", "http://b/"]),
    changed(layerOf("c", "http://c/"), 3, "http://c/"),
    changed(layerOf("d", "http://a/"), 5, ["http://a/", "http://d/"]),
  ];
  const [whole, grown] = [new UpstreamLimits(new ManualClock()), new UpstreamLimits(new ManualClock())];
  whole.configure(layers);
  grown.configure([]);
  for (const [i, layer] of layers.entries()) grown.add(layers.slice(0, i + 1), layer);
  const limitsOf = (limits: UpstreamLimits) =>
    limits.views().map(({ layers: own, connections }) => [own, connections.configured]);
  expect(limitsOf(grown)).toEqual([
    [["a", "b", "d"], 2],
    [["c"], 3],
  ]);
  expect(limitsOf(whole)).toEqual(limitsOf(grown));
  expect(grown.servers()).toEqual(whole.servers());
});
