import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Documents } from "../../src/http/api/documents/documents.ts";
import { hasChromium } from "../clients/chromium.ts";
import { ended, seed, startServer, type TestServer, usage } from "../support/server/server.ts";
import { smallTiles } from "../support/server/wms-configuration.ts";
import { startUpstream, type Upstream } from "../support/upstream/upstream.ts";
import { type ConsoleBrowser, consoleBrowser, LOOKS } from "./console-page.ts";

const CAPABILITIES = `<WMT_MS_Capabilities version="1.1.1"><Service><Title>City</Title></Service><Capability>
  <Request><GetMap><Format>image/png</Format></GetMap></Request>
  <Layer><SRS>EPSG:3857</SRS><SRS>EPSG:4326</SRS><LatLonBoundingBox minx="5" miny="45" maxx="11" maxy="48"/>
    <Layer><Name>roads</Name><Title>All roads</Title></Layer>
    <Layer><Name>rivers</Name><Title>All rivers</Title></Layer>
  </Layer></Capability></WMT_MS_Capabilities>`;

describe.skipIf(!hasChromium)("the console's editor, in Chromium (Debian package chromium-headless-shell)", () => {
  let browser: ConsoleBrowser;
  let server: TestServer;
  let upstream: Upstream;
  const put = (path: string, document: object): Promise<Response> =>
    fetch(`${server.url}/api/v1/${path}`, { method: "PUT", body: JSON.stringify(document) });
  const layer = (more: object = {}) => ({
    source: { type: "wms", url: upstream.url },
    gridSubsets: [{ gridSet: "own", zoomStop: 1 }],
    formats: ["image/png"],
    ...more,
  });
  const gridSet = { srs: "EPSG:25832", extent: [0, 5e6, 1_024_000, 6_024_000], resolutions: [4000, 2000, 1000] };
  beforeAll(async () => {
    upstream = await startUpstream();
    server = await startServer({ configuration: smallTiles(upstream.url, [{ name: "ws:file" }]) });
    await put("grid-sets/own", gridSet);
    await put("layers/ws:made", layer());
    browser = await consoleBrowser();
  });
  afterAll(async () => {
    await server.close();
    await upstream.close();
  });

  test.each(LOOKS)("the lists, the editor and a check are accessible, $look", async (look) => {
    await using console = await browser.page(server, look);
    for (const part of ["gridSets", "stores"]) {
      await console.open(`/ui/settings/${part}`);
      await console.settled();
      await console.expectAccessible();
    }
    await console.open("/ui/edit/layers/ws:file");
    await console.page.getByText(/It is defined in .*nuthatch\.yaml:\d+, and is changed there\./).waitFor();
    await console.expectAccessible();
    await console.open("/ui/edit/layers/ws:made");
    const text = console.page.getByLabel("Document (JSON)");
    await text.fill((await text.inputValue()).replace('"gutter": 0', '"gutter": 8'));
    await console.page.getByRole("button", { name: "Check the change" }).click();
    await console.page.getByRole("cell", { name: "gutter" }).waitFor();
    await console.expectAccessible();
  });

  test("layers of a WMS are connected: its address, its layers with pictures, and they are there", async () => {
    const wms = await startUpstream();
    onTestFinished(() => wms.close());
    wms.behaviour = ({ target }, response) => {
      if (!target.includes("GetCapabilities")) return "render";
      response.writeHead(200, { "Content-Type": "application/vnd.ogc.wms_xml" }).end(CAPABILITIES);
      return "handled";
    };
    await using console = await browser.page(server, LOOKS[0]);
    const { page } = console;
    await console.open("/ui/edit/connect");
    await page.getByLabel("Address of the WMS").fill(wms.url);
    await page.getByLabel("Prefix of the names").fill("city:");
    await page.getByRole("button", { name: "Show its layers" }).click();
    const rivers = page.getByRole("listitem").filter({ hasText: "All rivers" });
    await rivers.locator("img").waitFor();
    await console.expectAccessible();
    await rivers.getByRole("checkbox").check();
    await page.getByRole("button", { name: "Add 1 layer" }).click();
    await page.waitForURL("**/ui/layers/city%3Arivers");
    await page.getByText("1 layer has been added.").waitFor();
    const made = await fetch(`${server.url}/api/v1/layers/city:rivers`);
    expect(await made.json()).toMatchObject({ configuration: { source: { type: "wms", layers: ["rivers"] } } });
  });

  test("a change of a grid set is applied after its price is told, by the keyboard alone", async () => {
    await ended(server, await seed(server, "ws:made", { gridSetId: "own", zoomStop: 1 }));
    const tiles = async (): Promise<number> => Number((await usage(server)).total.tiles);
    expect(await tiles()).toBeGreaterThan(0);
    await using console = await browser.page(server);
    const { page } = console;
    await console.open("/ui/edit/grid-sets/own");
    const text = page.getByLabel("Document (JSON)");
    await text.focus();
    await text.fill(JSON.stringify({ ...gridSet, id: "own", extent: [0, 5e6, 512_000, 5_512_000] }));
    const apply = page.getByRole("button", { name: "Apply the change", exact: true });
    expect(await apply.isDisabled()).toBe(true);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByText(/1 tile set becomes invalid: \d+ tiles/).waitFor();
    await page.getByRole("cell", { name: "ws:made" }).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByText("own is in force.").waitFor();
    expect(await tiles()).toBe(0);
  });

  test("a change by somebody else meanwhile is shown, and the typed text stays", async () => {
    await using console = await browser.page(server);
    const { page } = console;
    await console.open("/ui/edit/layers/ws:made");
    const text = page.getByLabel("Document (JSON)");
    const mine = JSON.stringify({ ...layer({ title: "Mine" }), name: "ws:made" });
    await text.fill(mine);
    await put("layers/ws:made", layer({ title: "Theirs" }));
    await page.getByRole("button", { name: "Check the change" }).click();
    await page.getByRole("heading", { name: "Changed meanwhile" }).waitFor();
    await page.getByRole("cell", { name: '"Theirs"' }).waitFor();
    expect(await text.inputValue()).toBe(mine);
    await console.expectAccessible();
    await page.getByRole("button", { name: "Keep my text and check it again" }).click();
    await page.getByRole("cell", { name: '"Mine"' }).waitFor();
    await page.getByRole("button", { name: "Apply the change", exact: true }).click();
    await page.getByText("ws:made is in force.").waitFor();
    const now: Documents["Layer"] = await (await fetch(`${server.url}/api/v1/layers/ws:made`)).json();
    expect(now.configuration.title).toBe("Mine");
  });

  test("a mistake is shown with its path, and a text that is no JSON cannot be sent", async () => {
    await using console = await browser.page(server);
    const { page } = console;
    await console.open("/ui/edit/stores");
    const text = page.getByLabel("Document (JSON)");
    const check = page.getByRole("button", { name: "Check the change" });
    await text.fill("{");
    await page.getByRole("alert").first().waitFor();
    expect(await check.isDisabled()).toBe(true);
    await text.fill(JSON.stringify({ id: "fast", type: "file", path: `${server.dataDir}-fast`, layout: "gwcx" }));
    await check.click();
    await page
      .getByText(/layout: expected one of gwc, tms, slippy/)
      .first()
      .waitFor();
    await text.fill(JSON.stringify({ id: "fast", type: "file", path: `${server.dataDir}-fast` }));
    await check.click();
    await page.getByText("No stored tiles become invalid.").waitFor();
    await page.getByRole("button", { name: "Apply the change", exact: true }).click();
    await page.getByRole("link", { name: "fast" }).click();
    await page.getByRole("button", { name: "Remove", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove", exact: true }).click();
    await page.getByText("fast was removed.").waitFor();
  });
});
