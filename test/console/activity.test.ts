import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../clients/chromium.ts";
import { massTruncate, startServer, type TestServer } from "../support/server/server.ts";
import { type ConsoleBrowser, consoleBrowser, LOOKS } from "./console-page.ts";

// Without Debian's Chromium: a loud skip.
describe.skipIf(!hasChromium)("the console's activity, in Chromium (Debian package chromium-headless-shell)", () => {
  let browser: ConsoleBrowser;
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
    browser = await consoleBrowser();
    await massTruncate(server, "topp:states");
    await fetch(`${server.url}/api/v1/jobs`, { method: "POST", body: '{"layer":"topp:states","zoomStop":1}' });
    await fetch(`${server.url}/api/v1/jobs`, { method: "POST", body: '{"layer":"nowhere"}' });
  });
  afterAll(async () => {
    await server.close();
  });

  test.each(LOOKS)("the view is accessible, $look", async (look) => {
    await using console = await browser.page(server, look);
    await console.open("/ui/activity");
    await console.page.getByText("Unknown layer: nowhere").first().waitFor();
    await console.expectAccessible();
  });

  test("changes and refusals are listed, filtered in the address, and new ones appear by themselves", async () => {
    await using console = await browser.page(server);
    const { page } = console;
    await console.open("/ui/activity?refused=true");
    await page.getByText("Unknown layer: nowhere").first().waitFor();
    await expect.poll(() => page.locator("tbody tr").count()).toBe(1);
    await console.open("/ui/activity");
    await page.getByRole("link", { name: /1/ }).first().waitFor();
    const rows = page.locator("tbody tr");
    await expect.poll(() => rows.count()).toBe(3);
    await massTruncate(server, "nurc:Arc_Sample");
    await expect.poll(() => rows.count()).toBe(4);
  });
});
