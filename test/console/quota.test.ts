import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../clients/chromium.ts";
import { ended, putQuota, seed, startServer, type TestServer } from "../support/server/server.ts";
import { type ConsoleBrowser, consoleBrowser, LOOKS } from "./console-page.ts";

const LAYER = "topp:states";

// Without Debian's Chromium: a loud skip.
describe.skipIf(!hasChromium)("the console's quota, in Chromium (Debian package chromium-headless-shell)", () => {
  let browser: ConsoleBrowser;
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ env: { NUTHATCH_DISK_QUOTA: '{"count":"content"}' } });
    browser = await consoleBrowser();
    await ended(server, await seed(server, LAYER, { zoomStop: 3, gridSetId: "EPSG:900913" }));
    await fetch(`${server.url}/xyz/${LAYER}/1/0/0.png`);
    await putQuota(server, { enabled: true, globalQuota: { value: 100, units: "MiB" } });
  });
  afterAll(async () => {
    await server.close();
  });

  test.each(LOOKS)("the view is accessible, $look", async (look) => {
    await using console = await browser.page(server, look);
    await console.open("/ui/quota");
    await console.page.getByLabel("Add a quota for a layer").waitFor();
    await console.settled();
    await console.expectAccessible();
  });

  test("gauges compare what the quota counts; a lower limit tells what it would evict, asks, and holds then", async () => {
    await using console = await browser.page(server);
    const { page } = console;
    // The content takes a half of this quota, and the blocks on the disk more than all of it.
    const { bytes } = (await (await fetch(`${server.url}/api/v1/status`)).json()).usage;
    await putQuota(server, { enabled: true, globalQuota: { value: 2 * bytes, units: "B" } });
    await console.open("/");
    await page
      .getByRole("banner")
      .getByText(/50% of /)
      .waitFor();
    await page.getByRole("progressbar", { name: "Quota" }).and(page.locator("[aria-valuenow='50']")).waitFor();
    await console.open("/ui/quota");
    await page.locator("[role=progressbar][aria-valuenow='50']").first().waitFor();
    await putQuota(server, { enabled: true, globalQuota: { value: 100, units: "MiB" } });
    await page.getByText("of 100 MiB").last().waitFor();
    await page.getByLabel("Add a quota for a layer").selectOption(LAYER);
    await page.getByLabel(`Size for ${LAYER}`).fill("8");
    await page.getByLabel(`Unit for ${LAYER}`).selectOption("KiB");
    await page.getByText(/This evicts about \d+ tiles/).waitFor();
    await page.getByRole("button", { name: "Apply", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Apply", exact: true }).click();
    await page.getByText("The quota has been changed.").waitFor();
    const quota = await (await fetch(`${server.url}/api/v1/quota`)).json();
    expect(quota).toMatchObject({
      globalQuota: { value: "100", units: "MiB" },
      layerQuotas: [{ layer: LAYER, quota: { value: "8", units: "KiB" } }],
    });
    await page.getByLabel(`Size for ${LAYER}`).fill("much");
    await page.getByRole("alert").filter({ hasText: "a decimal number" }).waitFor();
    expect(await page.getByRole("button", { name: "Apply", exact: true }).isDisabled()).toBe(true);
  });
});
