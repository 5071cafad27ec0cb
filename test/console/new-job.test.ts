import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../clients/chromium.ts";
import { startServer, type TestServer } from "../support/server/server.ts";
import { startUpstream, type Upstream } from "../support/upstream/upstream.ts";
import { type ConsoleBrowser, type ConsolePage, consoleBrowser, LOOKS } from "./console-page.ts";

const HOSTILE = '<img src=x onerror="document.title=1">';

// Without Debian's Chromium: a loud skip.
describe.skipIf(!hasChromium)(
  "the console's form of a new job, in Chromium (Debian package chromium-headless-shell)",
  () => {
    let upstream: Upstream;
    let server: TestServer;
    let browser: ConsoleBrowser;
    beforeAll(async () => {
      upstream = await startUpstream();
      server = await startServer({
        configuration: `
users:
  - { name: anna, password: administrator, roles: [operator] }
  - { name: otto, password: administrator, roles: [viewer] }
layers:
  - name: ws:roads
    title: '${HOSTILE}'
    source: { type: wms, url: "${upstream.url}", layers: [roads], connections: 4 }
    gridSubsets: [{ gridSet: EPSG:4326 }, { gridSet: EPSG:900913 }]
    formats: [image/png]
  - name: ws:rivers
    source: { type: wms, url: "${upstream.url}", layers: [rivers] }
    gridSubsets: [{ gridSet: EPSG:900913 }]
`,
      });
      browser = await consoleBrowser();
    });
    afterAll(async () => {
      await server.close();
      await upstream.close();
    });

    async function openAs(console: ConsolePage, name: string, path: string): Promise<void> {
      await console.open(path);
      await console.signIn(name, "administrator");
      await console.page.getByRole("heading", { name: "New job" }).waitFor();
    }

    /** Returns the request of the latest job of the server. */
    async function latestJob(): Promise<Record<string, unknown>> {
      const headers = { Authorization: `Basic ${btoa("anna:administrator")}` };
      const { jobs } = await (await fetch(`${server.url}/api/v1/jobs?limit=1`, { headers })).json();
      return (await fetch(`${server.url}/api/v1/jobs/${jobs[0].id}`, { headers })).json();
    }

    test.each(LOOKS)("the form is accessible, $look", async (look) => {
      await using console = await browser.page(server, look);
      await openAs(console, "anna", "/ui/new?layer=ws:roads&type=reseed&rateLimit=5");
      await console.page.getByText("tiles to render").waitFor();
      await console.expectAccessible();
    });

    test("by the keyboard alone a layer is chosen, a box is typed, and the job of the estimate is started", async () => {
      await using console = await browser.page(server);
      const { page } = console;
      await openAs(console, "anna", "/ui/new");
      const tabTo = async (name: string, role: Parameters<typeof page.getByRole>[0]): Promise<void> => {
        const focused = page.getByRole(role, { name, exact: true }).and(page.locator(":focus"));
        for (let n = 0; n < 60; n++) {
          if ((await focused.count()) > 0) return;
          await page.keyboard.press("Tab");
        }
        throw new Error(`Tab does not reach ${name}`);
      };
      await tabTo("Layer", "combobox");
      await page.keyboard.type("ws:roads");
      await page.getByText("tiles to render").waitFor();
      // The layer's title is shown as text everywhere.
      expect(await page.getByRole("application").getAttribute("aria-label")).toContain(HOSTILE);
      for (const [field, text] of [
        ["Min x", "0"],
        ["Min y", "0"],
        ["Max x", "10018754"],
        ["Max y", "10018754"],
      ] as const) {
        await tabTo(field, "textbox");
        await page.keyboard.press("Control+A");
        await page.keyboard.type(text);
      }
      await tabTo("To", "combobox");
      await page.keyboard.press("Home");
      for (let n = 0; n < 3; n++) await page.keyboard.press("ArrowDown");
      const label = page.getByRole("button", { name: /^Start: render [67] tiles$/ });
      await label.waitFor();
      expect(new URL(page.url()).searchParams.get("bounds")).toBe("0,0,10018754,10018754");
      await tabTo((await label.textContent()) ?? "", "button");
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/ui\/jobs\/\d+$/);
      expect(await latestJob()).toMatchObject({
        layer: "ws:roads",
        type: "seed",
        gridSet: "EPSG:900913",
        bounds: [0, 0, 10018754, 10018754],
        zoomStart: 0,
        zoomStop: 3,
        tiles: { total: 7 },
        createdBy: "anna",
      });
    });

    test("a box and a polygon are drawn on the map, and the estimate follows", async () => {
      await using console = await browser.page(server);
      const { page } = console;
      await openAs(console, "anna", "/ui/new?layer=ws:roads&zoomStop=3");
      await page.locator(".map-target[aria-busy=false]").waitFor();
      await page.getByText("tiles to render").waitFor();
      const before = await page.locator(".headline").textContent();
      /** Returns the middle of the map in the window. The map is where it is after the controls have changed. */
      const middle = async (): Promise<readonly [number, number]> => {
        await page.locator(".map-target").scrollIntoViewIfNeeded();
        const box = await page.locator(".map-target").boundingBox();
        if (box === null) throw new Error("no map");
        return [box.x + box.width / 2, box.y + box.height / 2];
      };
      await page.getByRole("button", { name: "Draw a box" }).click();
      await page.getByText("Drag a box on the map.").waitFor();
      let [x, y] = await middle();
      await page.mouse.move(x + 5, y + 5);
      await page.mouse.down();
      await page.mouse.move(x + 60, y + 60, { steps: 4 });
      await page.mouse.up();
      await page.waitForURL(/bounds=/);
      const bounds = new URL(page.url()).searchParams.get("bounds")?.split(",").map(Number) ?? [];
      expect(bounds[0]).toBeGreaterThan(0);
      expect(bounds[3]).toBeLessThan(0);
      await expect.poll(() => page.locator(".headline").textContent()).not.toBe(before);

      await page.getByRole("button", { name: "Draw a polygon" }).click();
      [x, y] = await middle();
      await page.mouse.click(x, y);
      await page.mouse.click(x + 80, y);
      await page.mouse.dblclick(x + 40, y - 60);
      await page.waitForURL(/area=POLYGON/);
      expect(new URL(page.url()).searchParams.has("bounds")).toBe(false);
      await page.getByText(/An area in WKT/).waitFor();
      await page.getByRole("button", { name: "The whole layer", exact: true }).click();
      // The number has changed, because the map has had tiles rendered since.
      await expect.poll(() => new URL(page.url()).search).not.toMatch(/area=|bounds=/);
    });

    test("a GeoJSON file gives the area, however long it is, and the command names a file", async () => {
      await using console = await browser.page(server);
      const { page } = console;
      await openAs(console, "anna", "/ui/new?layer=ws:roads&zoomStart=5&zoomStop=5");
      const corners = Array.from({ length: 400 }, (_, n) => [10 + 5 * Math.cos(n / 64), 50 + 5 * Math.sin(n / 64)]);
      const area = { type: "Polygon", coordinates: [[...corners, corners[0]]] };
      await page.getByText("tiles to render").waitFor();
      await page.locator("input[type=file]").setInputFiles({
        name: `${HOSTILE}.geojson`,
        mimeType: "application/json",
        buffer: Buffer.from(JSON.stringify(area)),
      });
      await page.getByText(/An area in GeoJSON of [\d,]+ characters/).waitFor();
      const start = page.getByRole("button", { name: /^Start: render [1-9] tiles?$/ });
      await start.waitFor();
      await page.getByRole("button", { name: /as curl and command line/ }).click();
      await page.getByText(/nuthatch seed ws:roads .*--zoom 5-5 --area area.json/).waitFor();
      await page.keyboard.press("Escape");
      await start.click();
      await page.waitForURL(/\/ui\/jobs\/\d+$/);
      expect(await latestJob()).toMatchObject({ limit: "area", zoomStart: 5, zoomStop: 5 });
    });

    test("a very large job asks for its number, and a link fills in the form", async () => {
      await using console = await browser.page(server);
      const { page } = console;
      const query = new URLSearchParams({
        layer: "ws:roads",
        type: "reseed",
        gridSet: "EPSG:4326",
        bounds: "0,0,90,45",
        zoomStart: "12",
        zoomStop: "13",
        onlyExisting: "false",
        priority: "20",
        runWindow: JSON.stringify({ from: "22:00", to: "06:00", timeZone: "UTC" }),
      });
      await openAs(console, "anna", `/ui/new?${query}`);
      await expect.poll(() => page.getByLabel("Grid set").inputValue()).toBe("EPSG:4326");
      await expect.poll(() => page.getByLabel("Max x").inputValue()).toBe("90");
      await expect.poll(() => page.getByLabel("Priority").inputValue()).toBe("20");
      await expect.poll(() => page.getByLabel("Run from").inputValue()).toBe("22:00");
      const schedule = await page.getByRole("link", { name: "As a schedule" }).getAttribute("href");
      expect(Object.fromEntries(new URL(schedule ?? "", server.url).searchParams)).toMatchObject({
        layer: "ws:roads",
        type: "reseed",
        bounds: "0,0,90,45",
        zoomStop: "13",
      });
      const tiles = (2048 * 1024 + 4096 * 2048).toString();
      const label = `Start: render ${Number(tiles).toLocaleString("en")} tiles`;
      await page.getByRole("button", { name: label, exact: true }).click();
      const dialog = page.getByRole("dialog");
      const confirm = dialog.getByRole("button", { name: /^Start/ });
      expect(await confirm.isDisabled()).toBe(true);
      await dialog.getByLabel(`Type ${tiles} to confirm`).fill(tiles);
      await confirm.click();
      await page.waitForURL(/\/ui\/jobs\/\d+$/);
      const job = await latestJob();
      expect(job).toMatchObject({ type: "reseed", priority: 20, runWindow: { from: "22:00", to: "06:00" } });
      const headers = { Authorization: `Basic ${btoa("anna:administrator")}` };
      await fetch(`${server.url}/api/v1/jobs/${job["id"]}`, { method: "DELETE", headers });
    });

    test("what the server refuses stands beside the form, and a viewer sees no button that starts", async () => {
      await using console = await browser.page(server);
      const { page } = console;
      await openAs(console, "otto", "/ui/new?layer=ws:roads&rateLimit=fast");
      await page
        .getByRole("alert")
        .filter({ hasText: /rateLimit: expected/ })
        .waitFor();
      await page.getByLabel("Most tiles per second").fill("7");
      await page.getByText("tiles to render").waitFor();
      expect(await page.getByRole("button", { name: /^Start/ }).count()).toBe(0);
      await page.getByText("not start jobs").waitFor();
    });

    test("all tiles of a layer are truncated at once, and the toast undoes it", async () => {
      await using console = await browser.page(server);
      const { page } = console;
      // Without a tile there is nothing to take back.
      expect((await fetch(`${server.url}/xyz/ws:rivers/2/1/1.png`)).status).toBe(200);
      await openAs(console, "anna", "/ui/new?layer=ws:rivers&type=truncate");
      await page.getByRole("button", { name: /^Truncate: remove [1-9]\d* tiles?$/ }).click();
      await page.waitForURL(/\/ui\/truncations$/);
      await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
      await page.getByText("The tiles are back.").waitFor();
    });
  },
);
