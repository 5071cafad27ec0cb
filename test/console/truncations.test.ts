import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../clients/chromium.ts";
import { ended, massTruncate, seed, startServer, type TestServer, usage } from "../support/server.ts";
import { type ConsoleBrowser, LOOKS, startConsoleBrowser } from "./console-page.ts";

// Without Debian's Chromium: a loud skip.
describe.skipIf(!hasChromium)("the console's truncations, in Chromium (Debian package chromium)", () => {
  let browser: ConsoleBrowser;
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
    browser = await startConsoleBrowser();
    for (const layer of ["topp:states", "nurc:Arc_Sample"])
      await ended(server, await seed(server, layer, { zoomStop: 2, gridSetId: "EPSG:4326" }));
    await massTruncate(server, "topp:states");
  });
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await server.close();
  });

  test.each(LOOKS)("the list and the dialog are accessible, $look", async (look) => {
    await using console = await browser.page(server, look);
    await console.open("/ui/truncations");
    await console.page
      .getByText(/ left$/)
      .first()
      .waitFor();
    await console.expectAccessible();
    await console.page.getByRole("button", { name: "Truncate a layer …" }).click();
    await console.page.getByLabel("Layer", { exact: true }).selectOption("nurc:Arc_Sample");
    await console.page.getByText(/This removes \d+ tiles/).waitFor();
    await console.expectAccessible();
  });

  test("a layer is truncated after its number was told, and the message undoes it", async () => {
    await using console = await browser.page(server);
    const { page } = console;
    const before = (await usage(server)).total.tiles;
    await console.open("/ui/truncations");
    await page.getByRole("button", { name: "Truncate a layer …" }).click();
    await page.getByLabel("Layer", { exact: true }).selectOption("nurc:Arc_Sample");
    await page.getByText(`This removes ${before} tiles`).waitFor();
    await page.getByRole("button", { name: "Truncate", exact: true }).click();
    await page.getByText(`nurc:Arc_Sample: ${before} tiles.`).waitFor();
    expect((await usage(server)).total.tiles).toBe(0);
    await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
    await page.locator(".chip", { hasText: /^\W*undone$/ }).waitFor();
    expect((await usage(server)).total.tiles).toBe(before);
  });
});
