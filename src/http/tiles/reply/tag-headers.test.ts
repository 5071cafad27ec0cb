import { expect, test } from "vitest";
import { layerNamed } from "../../../../test/support/layer.ts";
import { geodetic, served, startProtocols, states } from "../../../../test/support/tile-protocols.ts";
import { catalogueOf } from "../../../layer/catalogue.ts";
import { gridSubset } from "../../../layer/grid-subset.ts";

const world = layerNamed("world", { gridSubsets: [gridSubset(geodetic, {})], fullWms: true });
const start = (tagHeader: "Cache-Tag" | "Surrogate-Key" | "xkey" | undefined) =>
  startProtocols({ catalogue: () => catalogueOf([world, states]), tagHeader: () => tagHeader });

const xyz = (x: number, y: number, more = "") => `/xyz/world/EPSG:4326/7/${x}/${y}.png${more}`;
const TMS = "/service/tms/1.0.0/world@EPSG:4326@png/7/3/124.png";
const WMTS =
  "/service/wmts?SERVICE=WMTS&VERSION=1.0.0&REQUEST=GetTile&LAYER=world&STYLE=&FORMAT=image/png&TILEMATRIXSET=EPSG:4326&TILEMATRIX=EPSG:4326:7&TILECOL=3&TILEROW=3";
const MAP =
  "/service/wms?VERSION=1.1.1&REQUEST=GetMap&LAYERS=world&SRS=EPSG:4326&BBOX=-170,-80,10,70&WIDTH=500&HEIGHT=400&FORMAT=image/png";

test.each([
  ["Cache-Tag", ","],
  ["Surrogate-Key", " "],
  ["xkey", " "],
] as const)("%s has the tags of a tile in every protocol, in 200, HEAD and 304", async (header, separator) => {
  await using protocols = await start(header);
  const tagsOf = async (target: string, options = {}) => {
    const { status, headers } = await protocols.request(target, options);
    const value = headers[header.toLowerCase()];
    return { status, tags: typeof value === "string" ? value.split(separator) : [] };
  };
  const { tags } = await tagsOf(xyz(3, 3));
  expect(tags.length).toBeGreaterThanOrEqual(2);
  for (const tag of tags) expect(tag).toMatch(/^[!-+\--~]{1,64}$/);
  for (const target of [TMS, WMTS]) expect(await tagsOf(target), target).toEqual({ status: 200, tags });
  expect(await tagsOf(xyz(3, 3), { method: "HEAD" })).toEqual({ status: 200, tags });
  const unchanged = { headers: { "If-None-Match": served.etag } };
  expect(await tagsOf(xyz(3, 3), unchanged)).toEqual({ status: 304, tags });
});

test("a cell has 16 x 16 tiles, counted from the lower left; other cells, levels and layers share at most the layer's tag", async () => {
  await using protocols = await start("xkey");
  const tagsOf = async (target: string) => String((await protocols.request(target)).headers["xkey"]).split(" ");
  const tags = await tagsOf(xyz(0, 127));
  expect(await tagsOf(xyz(15, 112))).toEqual(tags);
  const [layer] = tags;
  for (const target of [xyz(16, 127), xyz(0, 111), "/xyz/world/EPSG:4326/6/0/63.png"])
    expect(
      (await tagsOf(target)).filter((tag) => tags.includes(tag)),
      target,
    ).toEqual([layer]);
  const other = await tagsOf("/xyz/topp:states/EPSG:4326/7/40/40.png");
  expect(other.filter((tag) => tags.includes(tag))).toEqual([]);
});

test("the formats and parameters of a cell have one tag in common, and one each of their own", async () => {
  await using protocols = await start("xkey");
  const at = "/xyz/topp:states/EPSG:4326/7/40/40";
  const lists = [];
  for (const target of [`${at}.png`, `${at}.jpeg`, `${at}.png?STYLES=pop`])
    lists.push(String((await protocols.request(target)).headers["xkey"]).split(" "));
  const [first = [], ...others] = lists;
  for (const tags of others) expect(first.filter((tag) => tags.includes(tag))).toEqual(first.slice(0, 2));
});

test("a map of any extent has the tags of its layer and of the layer's maps, and a KMZ the tags of its tile", async () => {
  await using protocols = await start("xkey");
  const own = String((await protocols.request(xyz(3, 3))).headers["xkey"]).split(" ")[0] ?? "";
  const layer = `${own} ${own.replace("l-", "m-")}`;
  const map = await protocols.request(MAP);
  expect([map.status, map.headers["xkey"]]).toEqual([200, layer]);
  const again = await protocols.request(MAP, { headers: { "If-None-Match": String(map.headers.etag) } });
  expect([again.status, again.headers["xkey"]]).toEqual([304, layer]);
  const kmz = await protocols.request("/service/kml/world/x0y0z0.png.kmz");
  expect(kmz.headers["xkey"]).toBe((await protocols.request("/xyz/world/EPSG:4326/0/0/0.png")).headers["xkey"]);
});

test("a tile of a group has the tags of the tiles of which it is composed", async () => {
  const group = layerNamed("both", {
    source: { type: "group", layers: [world.name, states.name], connections: 1 },
    gridSubsets: [gridSubset(geodetic, {})],
  });
  await using protocols = await startProtocols({
    catalogue: () => catalogueOf([world, states, group]),
    tagHeader: () => "xkey",
  });
  const tagsOf = async (layer: string) =>
    String((await protocols.request(`/xyz/${layer}/EPSG:4326/7/40/40.png`)).headers["xkey"]).split(" ");
  const tags = await tagsOf("both");
  expect(tags).toEqual([...tags.slice(0, 3), ...(await tagsOf("world")), ...(await tagsOf("topp:states"))]);
});

test("errors and documents have no tags, and without a configured header no answer has any", async () => {
  await using protocols = await start("xkey");
  protocols.reader.outcome = () => ({
    kind: "failure",
    failure: { code: "upstream_busy", message: "The upstream is down" },
  });
  for (const target of [xyz(3, 3), xyz(3, 300), "/xyz/none/0/0/0.png", "/service/wmts?REQUEST=GetCapabilities"])
    expect((await protocols.request(target)).headers["xkey"], target).toBeUndefined();
  await using plain = await start(undefined);
  const { headers } = await plain.request(xyz(3, 3));
  expect(Object.keys(headers)).not.toContain("xkey");
  expect(Object.values(headers).join(" ")).not.toMatch(/\bl-[0-9a-f]{20}/);
});

test("the tags of a tile are the same in every version of the server", async () => {
  await using protocols = await start("Cache-Tag");
  // CDNs have copies with these tags. A change of the tags would make them unreachable for purges.
  expect((await protocols.request(xyz(3, 3))).headers["cache-tag"]).toMatchInlineSnapshot(
    `"l-486ea46224d1bb4fb680,a-61b645b2bc2441b36652,c-902c058be9890a5a8e56"`,
  );
});
