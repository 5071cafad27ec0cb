import { describe, expect, test } from "vitest";
import { catalogue, geodetic, startProtocols, textsOf } from "../../../../test/support/tile-protocols.ts";
import { catalogueOf } from "../../../layer/catalogue.ts";
import { gridSubset } from "../../../layer/grid-subset.ts";
import { readZip } from "../../../lib/file/zip.ts";

const TYPE = "application/vnd.google-earth.kml+xml";

/** Returns the files in an archive by name. */
async function unpacked(target: string): Promise<ReadonlyMap<string, string>> {
  await using protocols = await startProtocols();
  const answer = await fetch(`${protocols.baseUrl}${target}`);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/vnd.google-earth.kmz"]);
  const entries = readZip(new Uint8Array(await answer.arrayBuffer()), 2 ** 20) ?? [];
  return new Map(
    entries.map(({ name, bytes }) => [name, Buffer.from(bytes).toString().replaceAll(protocols.baseUrl, "BASE")]),
  );
}

test("a KMZ links to archives, each with its document and its tile under GWC's names", async () => {
  const whole = await unpacked("/service/kml/full.png.kmz");
  expect([...whole.keys()]).toEqual(["doc.kml"]);
  expect(whole.get("doc.kml")).toContain("<href>BASE/service/kml/full/x0y0z0.png.kmz</href>");
  const node = await unpacked("/service/kml/full/x3y1z1.png.kmz");
  expect([...node.keys()]).toEqual(["netlinks_x3y1z1.kml", "data_x3y1z1.png"]);
  expect(node.get("netlinks_x3y1z1.kml")).toContain("<Icon><href>data_x3y1z1.png</href></Icon>");
  expect(node.get("netlinks_x3y1z1.kml")).toContain("<href>BASE/service/kml/full/x6y2z2.png.kmz</href>");
  expect(node.get("data_x3y1z1.png")?.length).toBeGreaterThan(0);
});

describe("a super-overlay", () => {
  test("leads by its links from the first level to the last, and every picture is a tile", async () => {
    await using protocols = await startProtocols();
    const root = await protocols.request("/service/kml/full.png.kml");
    expect([root.status, root.headers["content-type"]]).toEqual([200, TYPE]);
    const links = textsOf(root.body, "href");
    expect(links).toEqual(["x0y0z0", "x1y0z0"].map((tile) => `${protocols.baseUrl}/service/kml/full/${tile}.png.kml`));
    let at = links[1] ?? "";
    let level = 0;
    for (; at.endsWith(".kml"); level++) {
      const node = await protocols.request(at.slice(protocols.baseUrl.length));
      expect([node.status, node.headers["content-type"]], at).toEqual([200, TYPE]);
      const hrefs = textsOf(node.body, "href");
      expect(hrefs).toHaveLength(level === 10 ? 1 : 5);
      expect(hrefs.at(-1)).toBe(at.replace(/\.kml$/, ""));
      at = hrefs[0] ?? "";
    }
    expect(level).toBe(11);
    const tile = await protocols.request(at.slice(protocols.baseUrl.length));
    expect([tile.status, tile.headers["content-type"]]).toEqual([200, "image/png"]);
    expect(protocols.reader.requests.map(({ index }) => index)).toEqual([{ x: 1024, y: 0, z: 10 }]);
  });

  test("places a tile by its extent, above those of the level before", async () => {
    await using protocols = await startProtocols();
    const { body } = await protocols.request("/service/kml/full/x3y1z1.png.kml");
    expect(body).toContain(
      "<GroundOverlay><drawOrder>1</drawOrder><Icon><href>" +
        `${protocols.baseUrl}/service/kml/full/x3y1z1.png</href></Icon><LatLonBox><north>90</north><south>0</south><east>180</east><west>90</west></LatLonBox></GroundOverlay>`,
    );
    expect(body).toContain(
      "<NetworkLink><name>2/6/2</name><Region><LatLonAltBox><north>45</north><south>0</south><east>135</east><west>90</west></LatLonAltBox><Lod><minLodPixels>128</minLodPixels><maxLodPixels>-1</maxLodPixels></Lod></Region>",
    );
  });

  test("hands its parameters on, escaped, and names what it may hold", async () => {
    await using protocols = await startProtocols();
    const { body } = await protocols.request("/service/kml/topp:states.png.kml?CQL_FILTER=A%3D'%26%3C'&STYLES=pop");
    const [link = ""] = textsOf(body, "href");
    const query = new URL(link).searchParams;
    expect([query.get("CQL_FILTER"), query.get("STYLES")]).toEqual(["A='&<'", "pop"]);
    expect(textsOf(body, "name")[0]).toBe("States & <provinces>");
    expect((await protocols.request(link.slice(protocols.baseUrl.length))).status).toBe(200);
  });

  test("is not there where there is no such tile, grid set, format or document", async () => {
    const first = catalogue.layers.get("full");
    if (first === undefined) throw new Error("the fixture has changed");
    const deep = { ...first, name: "deep", gridSubsets: [gridSubset(geodetic, { zoomStart: 9 })] };
    const more = catalogueOf([...catalogue.layers.values(), deep]);
    await using protocols = await startProtocols({ catalogue: () => more });
    const cases: [string, number][] = [
      ["/service/kml", 404],
      ["/service/kml/none.png.kml", 404],
      ["/service/kml/broken.png.kml", 404],
      ["/service/kml/topp:states.gif.kml", 400],
      ["/service/kml/topp:states.png", 404],
      ["/service/kml/topp:states.gif.kmz", 400],
      ["/service/kml/topp:states/x0y0z99.png.kmz", 404],
      ["/service/kml/topp:states/x0y0z1.png.kml", 404],
      ["/service/kml/topp:states/x0y0z99.png", 404],
      ["/service/kml/topp:states/x0y0.png", 404],
      ["/service/kml/topp:states/a/b.png", 404],
      ["/service/kml/deep.png.kml", 404],
    ];
    for (const [target, status] of cases) expect((await protocols.request(target)).status, target).toBe(status);
  });
});

test("documents link to no tiles that the circle of a request filter refuses", async () => {
  const round = catalogueOf(
    [...catalogue.layers.values()].map((layer) => ({ ...layer, requestFilters: [{ type: "circle", name: "round" }] })),
  );
  const linked = async (all: typeof catalogue): Promise<number> => {
    await using protocols = await startProtocols({ catalogue: () => all });
    let links = 0;
    for (let x = 0; x < 8; x++) {
      const { status, body } = await protocols.request(`/service/kml/full/x${x}y0z2.png.kml`);
      expect(status).toBe(200);
      links += body.split("<NetworkLink>").length - 1;
    }
    return links;
  };
  const [all, some] = [await linked(catalogue), await linked(round)];
  expect(all).toBe(32);
  expect(some).toBeGreaterThan(0);
  expect(some).toBeLessThan(all);
});
