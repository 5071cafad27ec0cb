import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../clients/chromium.ts";
import { ended, massTruncate, seed, startServer, type TestServer, usage } from "../support/server/server.ts";
import { type ConsoleBrowser, consoleBrowser, LOOKS } from "./console-page.ts";

// Without Debian's Chromium: a loud skip.
describe.skipIf(!hasChromium)("the console's truncations, in Chromium (Debian package chromium-headless-shell)", () => {
  let browser: ConsoleBrowser;
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
    browser = await consoleBrowser();
    for (const layer of ["topp:states", "nurc:Arc_Sample"])
      await ended(server, await seed(server, layer, { zoomStop: 2, gridSetId: "EPSG:4326" }));
    await massTruncate(server, "topp:states");
  });
  afterAll(async () => {
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
    const dialog = console.page.getByRole("dialog");
    await dialog.getByLabel("Layer", { exact: true }).selectOption("nurc:Arc_Sample");
    await dialog.getByText(/This removes \d+ tiles/).waitFor();
    await console.expectAccessible();
  });

  test("older pages and filters are addresses; orphans and a combination of parameters are told before they go", async () => {
    await using console = await browser.page(server);
    const { page } = console;
    expect((await fetch(`${server.url}/xyz/topp:states/1/0/0.png?STYLES=polygon`)).status).toBe(200);
    await console.open("/ui/truncations?after=1&state=kept");
    await page.getByText("No truncation matches these filters.").waitFor();
    await page.getByRole("link", { name: "Newest" }).click();
    await page.getByRole("link", { name: "topp:states" }).first().waitFor();
    await page.getByRole("button", { name: "Truncate a layer …" }).click();
    const dialog = page.getByRole("dialog");
    const submit = dialog.getByRole("button", { name: "Truncate", exact: true });
    expect(await submit.isDisabled()).toBe(true);
    await dialog.getByLabel("Layer", { exact: true }).selectOption("topp:states");
    await dialog.getByLabel(/^Tiles that the configuration no longer has/).click();
    await dialog.getByText("There is nothing to truncate.").waitFor();
    await dialog.getByText("nuthatch truncate topp:states --orphans").waitFor();
    await dialog.getByLabel("One combination of parameters").click();
    const sets = dialog.getByLabel("Combination of parameters", { exact: true });
    await sets.selectOption({ index: 1 });
    const [, tiles] =
      /STYLES=polygon.* \((\d+) tiles\)/.exec((await sets.locator("option").nth(1).textContent()) ?? "") ?? [];
    await dialog.getByText(`This removes ${tiles} tiles`).waitFor();
    const before = (await usage(server)).total.tiles;
    await submit.click();
    await page.locator(".toast").getByText(`topp:states: ${tiles} tiles.`).waitFor();
    expect((await usage(server)).total.tiles).toBe(before - Number(tiles));
    // Another operator is faster than the undo of the message: the message says so.
    const { truncations } = await (await fetch(`${server.url}/api/v1/truncations?layer=topp:states&limit=1`)).json();
    await fetch(`${server.url}/api/v1/truncations/${truncations[0].id}/undo`, { method: "POST" });
    await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
    await page.locator(".toast.problem").getByText(`Truncation ${truncations[0].id} was already undone at`).waitFor();
  });

  test("a layer is truncated after its number was told, and the message undoes it", async () => {
    await using console = await browser.page(server);
    const { page } = console;
    const stored = async (): Promise<number> =>
      (await usage(server)).layers.find(({ layer }) => layer === "nurc:Arc_Sample")?.tiles ?? 0;
    const before = await stored();
    expect(before).toBeGreaterThan(0);
    await console.open("/ui/truncations");
    await page.getByRole("button", { name: "Truncate a layer …" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Layer", { exact: true }).selectOption("nurc:Arc_Sample");
    await dialog.getByText(`This removes ${before} tiles`).waitFor();
    await dialog.getByRole("button", { name: "Truncate", exact: true }).click();
    await page.getByText(`nurc:Arc_Sample: ${before} tiles.`).waitFor();
    expect(await stored()).toBe(0);
    await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
    await page
      .getByRole("row", { name: /nurc:Arc_Sample/ })
      .first()
      .getByText(/^\W*undone$/)
      .waitFor();
    expect(await stored()).toBe(before);
  });
});
