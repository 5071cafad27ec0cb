import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { hasChromium } from "../clients/chromium.ts";
import { ended, startServer, type TestServer } from "../support/server/server.ts";
import { smallTiles } from "../support/server/wms-configuration.ts";
import { type HeldUpstream, startHeldUpstream } from "../support/upstream/held-upstream.ts";
import { type ConsoleBrowser, consoleBrowser, LOOKS } from "./console-page.ts";

const HOSTILE = "<img src=x onerror=document.title='hostile'>";

async function post(server: TestServer, path: string, body: unknown): Promise<number> {
  const response = await fetch(`${server.url}/api/v1/${path}`, {
    method: path === "quota" ? "PATCH" : "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(response.ok, `${path}: ${response.status}`).toBe(true);
  const { id = 0 }: { id?: number } = JSON.parse(await response.text());
  return id;
}

// Without Debian's Chromium: a loud skip.
// One story: a test opens the upstream that those before it keep waiting.
describe.skipIf(!hasChromium)(
  "the console's overview, in Chromium (Debian package chromium-headless-shell)",
  { shuffle: false },
  () => {
    let browser: ConsoleBrowser;
    let held: HeldUpstream;
    let server: TestServer;
    let failed = 0;
    let waiting = 0;
    let badIsMended = false;

    beforeAll(async () => {
      held = await startHeldUpstream();
      const holding = held.upstream.behaviour;
      held.upstream.behaviour = (requested, response) => {
        if (badIsMended || !requested.target.includes("LAYERS=bad")) return holding(requested, response);
        response.writeHead(200, { "Content-Type": "application/vnd.ogc.se_xml" });
        const text = HOSTILE.replaceAll("<", "&lt;");
        response.end(`<ServiceExceptionReport><ServiceException>${text}</ServiceException></ServiceExceptionReport>`);
        return "handled";
      };
      const layers = ["good", "bad"].map((name) => ({ name: `ws:${name}`, timeoutSeconds: 600 }));
      const names = ["good", "bad"].values();
      server = await startServer({
        configuration: smallTiles(held.upstream.url, layers).replace(
          /layers: \[roads\]/g,
          () => `layers: [${names.next().value}]`,
        ),
      });
      browser = await consoleBrowser();
      failed = await post(server, "jobs", { layer: "ws:bad", zoomStop: 1, tileFailureRetryCount: 0 });
      await ended(server, failed);
      const job = { layer: "ws:good", zoomStop: 1 };
      await post(server, "schedules", { name: "nightly", cron: "30 2 * * *", job });
      await post(server, "quota", { enabled: true, globalQuota: { value: 100, units: "MiB" } });
      waiting = await post(server, "jobs", { ...job, zoomStop: 3 });
    });
    afterAll(async () => {
      await server.close();
      await held.upstream.close();
    });

    test.each(LOOKS)("it is accessible, $look", async (look) => {
      await using console = await browser.page(server, look);
      await console.open("/");
      await console.page.getByRole("link", { name: "nightly" }).waitFor();
      await console.settled();
      await console.expectAccessible();
    });

    test("each part leads to the view that tells more", async () => {
      await using console = await browser.page(server);
      const { page } = console;
      const main = page.getByRole("main");
      const places = [
        [/ended as failed: every tile failed: .*<img src=x/, `jobs/${failed}`],
        [/ of 100 MiB$/, "quota"],
        [new URL(held.upstream.url).origin, "upstreams"],
        ["nightly", "schedules/nightly"],
        ["2 layers", "layers"],
        [/^Version \d/, "settings"],
      ] as const;
      for (const [name, path] of places) {
        await console.open("/");
        await main.getByRole("link", { name }).first().click();
        await page.waitForURL(`**/ui/${path}`);
      }
      expect(await page.title()).not.toBe("hostile");
    });

    test("what is mended disappears, and jobs appear and disappear while the page is open", async () => {
      await using console = await browser.page(server);
      const { page } = console;
      const jobs = page.getByRole("region", { name: "Current jobs" });
      await console.open("/");
      await page.getByRole("region", { name: "Needs attention" }).getByText("every tile failed").waitFor();
      await jobs.getByRole("link", { name: `#${waiting} seed` }).waitFor();
      const id = await post(server, "jobs", { layer: "ws:good", zoomStop: 0, gridSet: "EPSG:4326" });
      await jobs.getByRole("link", { name: `#${id} seed` }).waitFor();
      held.isOpen = true;
      held.release();
      await jobs.getByText("No jobs are running or waiting.").waitFor();
      badIsMended = true;
      await page.getByRole("button", { name: `Retry: job ${failed}`, exact: true }).click();
      await page.waitForURL(/\/ui\/jobs\/\d+$/);
      await page.goBack();
      await page.getByText("No problems.").waitFor();
    });

    test("requests of the last hour are told", async () => {
      await using console = await browser.page(server);
      for (let n = 0; n < 2; n++) await fetch(`${server.url}/xyz/ws:good/0/0/0.png`);
      await console.open("/");
      const hits = console.page.getByRole("region", { name: "Requests in the last hour" });
      await hits.getByText("Hit ratio").waitFor();
      expect(await hits.getByRole("definition").allTextContents()).toEqual([
        expect.stringMatching(/%$/),
        expect.stringMatching(/ ms$/),
        "2",
        expect.stringMatching(/^[01]$/),
        "0",
      ]);
    });

    test("a server without layers says what to do", async () => {
      const empty = await startServer({ configuration: "layers: []\n" });
      onTestFinished(() => empty.close());
      await using console = await browser.page(empty, LOOKS[2]);
      await console.open("/");
      await console.page.getByRole("heading", { name: "This server has no layers yet" }).waitFor();
      await console.page.getByText("nuthatch import wms https://").first().waitFor();
      await console.expectAccessible();
    });
  },
);
