import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { hasChromium } from "../clients/chromium.ts";
import { job, startServer, type TestServer } from "../support/server/server.ts";
import { startUpstream, type Upstream } from "../support/upstream/upstream.ts";
import { type ConsoleBrowser, type ConsolePage, consoleBrowser, LOOKS } from "./console-page.ts";

const HOSTILE = '<img src=x onerror="document.title=1">';

// Without Debian's Chromium: a loud skip.
describe.skipIf(!hasChromium)("the console's coverage, in Chromium (Debian package chromium-headless-shell)", () => {
  let upstream: Upstream;
  let server: TestServer;
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    upstream = await startUpstream();
    const layer = (name: string) => `
  - name: ${name}
    title: '${HOSTILE}'
    source: { type: wms, url: "${upstream.url}", layers: [roads], connections: 4 }
    gridSubsets: [{ gridSet: EPSG:4326, zoomStop: 8 }]
    formats: [image/png]
    metatile: [1, 1]
    gutter: 0`;
    server = await startServer({
      configuration: `layers:${["stored", "failing", "empty", "live"].map(layer).join("")}`,
    });
    browser = await consoleBrowser();
    await seed("stored", { zoomStop: 3 });
  });
  afterAll(async () => {
    await server.close();
    await upstream.close();
  });
  beforeEach(() => {
    upstream.behaviour = () => "render";
  });

  /** Makes a job and waits for its end. */
  async function seed(layer: string, fields: Readonly<Record<string, unknown>>): Promise<number> {
    const { id } = await (
      await fetch(`${server.url}/api/v1/jobs`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ layer, type: "seed", ...fields }),
      })
    ).json();
    await job(server, id, 30);
    return id;
  }

  const legendOf = ({ page }: ConsolePage, state: string) =>
    page.locator(".legend li").filter({ hasText: state }).locator(".number");
  const hasCount = (console: ConsolePage, state: string, count: string) =>
    expect.poll(() => legendOf(console, state).textContent()).toBe(count);

  test.each(LOOKS)("the coverage is accessible, $look", async (look) => {
    await using console = await browser.page(server, look);
    await console.open("/ui/layers/stored/coverage?z=3&tile=3/2/1");
    await hasCount(console, "Stored", "128");
    await console.page.getByRole("heading", { name: "Tile 3/2/1" }).waitFor();
    await console.expectAccessible();
  });

  test("a level is chosen in the table, a tile by its name, and a link leads to the job that seeds the rest", async () => {
    await using console = await browser.page(server);
    const { page } = console;
    await console.open("/ui/layers/stored/coverage");
    const before = upstream.asked.length;
    await page.getByLabel("Show level 4 on the map").check();
    await hasCount(console, "Stored", "0");
    await page.getByLabel("Show level 2 on the map").check();
    await hasCount(console, "Stored", "32");
    const row = page.getByRole("row").filter({ has: page.getByLabel("Show level 3 on the map") });
    await expect.poll(() => row.textContent()).toContain("100%");
    await page.getByLabel("Tile", { exact: true }).fill("9/0/0");
    await page.keyboard.press("Enter");
    await page.getByText("The layer has no such tile").waitFor();
    await page.getByLabel("Tile", { exact: true }).fill("2/3/1");
    await page.keyboard.press("Enter");
    const panel = page.getByRole("region", { name: "Tile 2/3/1" });
    await panel.locator(".chip").filter({ hasText: "Stored" }).waitFor();
    expect(new URL(page.url()).searchParams.get("tile")).toBe("2/3/1");
    await panel.getByRole("link", { name: "by job 1" }).waitFor();
    // Neither the map nor the explanation has sent a request to the upstream.
    expect(upstream.asked.length).toBe(before);
    await page.getByLabel("Show level 4 on the map").check();
    await page.getByRole("link", { name: "Seed what is missing here (level 4)" }).click();
    await page.getByRole("heading", { name: "New job" }).waitFor();
    const { searchParams } = new URL(page.url());
    expect(Object.fromEntries(searchParams)).toMatchObject({ layer: "stored", zoomStart: "4", zoomStop: "4" });
    expect(await page.getByRole("application").getAttribute("aria-label")).toContain(HOSTILE);
  });

  test("a click on a failed tile tells why, and the map of the job has the same failure", async () => {
    await using console = await browser.page(server);
    const { page } = console;
    upstream.behaviour = ({ bbox }, response) => {
      // The upper left tile of level 2.
      if (!bbox.startsWith("-180,45")) return "render";
      response.writeHead(500).end("no such picture");
      return "handled";
    };
    const id = await seed("failing", { zoomStart: 2, zoomStop: 2, tileFailureRetryCount: 0 });
    await console.open("/ui/layers/failing/coverage?z=2");
    await hasCount(console, "Failed", "1");
    await hasCount(console, "Stored", "31");
    const box = await page.locator(".map-target").boundingBox();
    if (box === null) throw new Error("no map");
    await page.getByLabel("Tile", { exact: true }).fill("2/0/0");
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: "Tile 2/0/0" }).getByText("Failed").waitFor();
    // The map has moved to the tile: its middle is the tile.
    await page.getByLabel("Tile", { exact: true }).fill("");
    await page.keyboard.press("Enter");
    await page.waitForURL((address) => !address.searchParams.has("tile"));
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    await page.getByRole("region", { name: "Tile 2/0/0" }).getByText("Failed").waitFor();
    await console.open(`/ui/jobs/${id}`);
    await hasCount(console, "Failed", "1");
    await console.expectAccessible();
  });

  test("the squares follow a job that runs, without a reload", async () => {
    await using console = await browser.page(server);
    await console.open("/ui/layers/live/coverage?z=4");
    await hasCount(console, "Stored", "0");
    await seed("live", { zoomStart: 4, zoomStop: 4, threadCount: 4 });
    await hasCount(console, "Stored", "512");
    const row = console.page.getByRole("row").filter({ has: console.page.getByLabel("Show level 4 on the map") });
    await expect.poll(() => row.textContent()).toContain("100%");
  });

  test("a level of many tiles is drawn in cells", async () => {
    await using console = await browser.page(server);
    await console.open("/ui/layers/empty/coverage?z=8");
    await hasCount(console, "Stored", "0");
    await console.page.getByText("A square is a cell of 16 × 16 tiles of level 8").waitFor();
  });
});
