import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../clients/chromium.ts";
import { hasMapServer, type MapServer, startMapServer } from "../clients/mapserver.ts";
import { colours, difference, pixels, rendered } from "../clients/pixels.ts";
import { startServer, type TestServer } from "../support/server/server.ts";
import { type ConsoleBrowser, type ConsolePage, consoleBrowser } from "./console-page.ts";

/** A part of the map without its buttons, in CSS pixels. It has the same middle as the map. */
const PART = { width: 400, height: 300 };
const WORLD = 20037508.342789244;

// Without Debian's Chromium and MapServer: a loud skip.
describe.skipIf(!hasChromium || !hasMapServer)(
  "the console's map (Debian packages chromium-headless-shell, cgi-mapserver)",
  () => {
    let upstream: MapServer;
    let server: TestServer;
    let browser: ConsoleBrowser;
    beforeAll(async () => {
      upstream = await startMapServer();
      const source = `{ type: wms, url: "${upstream.url}", layers: [roads], transparent: false, connections: 2 }`;
      server = await startServer({
        configuration: `
layers:
  - name: ws:roads
    source: ${source}
    gridSubsets: [{ gridSet: EPSG:900913, zoomStop: 6 }]
    formats: [image/png]
    metatile: [4, 4]
    gutter: 16
  - { name: quad, source: ${source}, gridSubsets: [{ gridSet: WebMercatorQuad }] }
  - { name: odd, source: ${source}, gridSubsets: [{ gridSet: odd }] }
  - { name: upwards, source: ${source}, gridSubsets: [{ gridSet: upwards }] }
  - { name: unseen, title: Unseen, source: ${source}, gridSubsets: [{ gridSet: EPSG:4326 }] }
gridSets:
  - { id: odd, srs: EPSG:4326, extent: [-180, -75, 180, 85], resolutions: [0.7, 0.25, 0.125], tileSize: [300, 200] }
  - { id: upwards, srs: EPSG:4326, extent: [-180, -75, 180, 85], resolutions: [0.7, 0.25, 0.125], tileSize: [300, 200], alignTopLeft: true }
`,
      });
      browser = await consoleBrowser();
    });
    afterAll(async () => {
      await server.close();
      await upstream.close();
    });

    /** Returns the middle of the map as RGB, when all of its tiles are shown. */
    async function middleOf({ page }: ConsolePage): Promise<Buffer> {
      await page.locator(".map-target[aria-busy=false]").waitFor();
      const box = await page.locator(".map-target").boundingBox();
      if (box === null) throw new Error("the page has no map");
      const x = Math.round(box.x + box.width / 2 - PART.width / 2);
      const y = Math.round(box.y + box.height / 2 - PART.height / 2);
      return pixels(await page.screenshot({ clip: { x, y, ...PART } }));
    }

    test.each([
      { layer: "ws:roads", srs: "EPSG:900913", resolution: (2 * WORLD) / 256 / 4, middle: [0, 0] },
      { layer: "quad", srs: "EPSG:900913", resolution: (2 * WORLD) / 256 / 4, middle: [0, 0] },
      { layer: "odd", srs: "EPSG:4326", resolution: 0.25, middle: [0, 5] },
      { layer: "upwards", srs: "EPSG:4326", resolution: 0.25, middle: [0, 5] },
    ] as const)("the map shows layer $layer where it lies", async ({ layer, srs, resolution, middle }) => {
      await using console = await browser.page(server);
      const [x, y] = middle;
      await console.open(`/ui/new?layer=${layer}&at=${x},${y},${resolution}`);
      await console.page.getByText(/^Level \d/).waitFor();
      const shown = await middleOf(console);
      const [w, h] = [(PART.width / 2) * resolution, (PART.height / 2) * resolution];
      const direct = await rendered(upstream.url, { srs, box: [x - w, y - h, x + w, y + h], ...PART });
      expect(colours(direct)).toBeGreaterThan(2);
      // Metatiles smooth some corner otherwise; one pixel beside would be 0.02.
      expect(difference(shown, direct)).toBeLessThan(0.001);
    });

    test("with 'only what is stored' looking renders nothing, and the address keeps the switch and the place", async () => {
      await using console = await browser.page(server);
      const { page } = console;
      await console.open("/ui/new?layer=unseen&gridSet=EPSG:4326&stored=1&at=0,0,0.3515625");
      await page.getByText(/^Level \d/).waitFor();
      expect(colours(await middleOf(console))).toBe(1);
      await page.getByRole("button", { name: "Zoom in" }).click();
      await page.waitForURL(/[?&]at=.*0\.1757/);
      const address = page.url();
      await page.reload();
      await page.getByText(/^Level \d/).waitFor();
      expect(await page.getByLabel("Only what is stored").isChecked()).toBe(true);
      expect(page.url()).toBe(address);
      const usage = await (await fetch(`${server.url}/api/v1/usage?layer=unseen`)).json();
      expect(usage).toMatchObject({ layers: [{ layer: "unseen", tiles: 0 }] });
      await page.getByLabel("Only what is stored").uncheck();
      await expect.poll(async () => colours(await middleOf(console))).toBeGreaterThan(2);
    });

    test("the keyboard moves and zooms the map", async () => {
      await using console = await browser.page(server);
      const { page } = console;
      await console.open("/ui/new?layer=quad&at=0,0,39135.7585");
      await page.getByText("Level 2").waitFor();
      await page.getByRole("application").focus();
      await page.keyboard.press("ArrowRight");
      await page.waitForURL(/at=[1-9]/);
      await page.keyboard.press("+");
      await page.getByText("Level 3").waitFor();
    });
  },
);
