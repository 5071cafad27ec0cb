import { describe, expect, onTestFinished, test } from "vitest";
import { hasChromium } from "../clients/chromium.ts";
import { exchange, hasNginx, startNginx } from "../clients/nginx.ts";
import { freePort } from "../clients/tinyproxy.ts";
import { seed, startServer } from "../support/server/server.ts";
import { wmsConfiguration } from "../support/server/wms-configuration.ts";
import { startUpstream } from "../support/upstream/upstream.ts";
import { type ConsolePage, consoleBrowser } from "./console-page.ts";

const reason = hasChromium ? "" : " (skipped: needs Debian's chromium-headless-shell)";
if (!hasChromium) console.warn("SKIPPED: test/console/connection.test.ts needs Debian's chromium-headless-shell");

/** Values of the placeholders in addresses of tiles; other placeholders are 0. */
const PLACE: Readonly<Record<string, string>> = {
  TileMatrix: "EPSG:900913:0",
  bbox: "-20037508.34,-20037508.34,20037508.34,20037508.34",
};

/** Keeps the coordinator busy with estimates of a ring of many corners, two at a time, until it is disposed of. */
function keepEstimating(url: string): AsyncDisposable & { readonly faults: readonly string[] } {
  const corners = Array.from({ length: 20_000 }, (_, i) => {
    const [angle, radius] = [(i / 20_000) * 2 * Math.PI, i % 2 === 0 ? 8_000_000 : 15_000_000];
    return [radius * Math.cos(angle), radius * Math.sin(angle)];
  });
  const area = { type: "Polygon", coordinates: [[...corners, corners[0]]] };
  const body = JSON.stringify({ layer: "topp:states", zoomStart: 0, zoomStop: 14, area, areaCrs: "EPSG:3857" });
  const faults: string[] = [];
  const stopped = new AbortController();
  const ask = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      const headers = { "Content-Type": "application/json" };
      const { signal } = stopped;
      const response = await fetch(`${url}/api/v1/estimate`, { method: "POST", headers, body, signal });
      const text = await response.text();
      // An estimate may take too long, which keeps the coordinator busy.
      if (response.status !== 200 && response.status !== 422) faults.push(text);
    }
  };
  const asking = Promise.allSettled([ask(), ask()]);
  return {
    faults,
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await asking;
    },
  };
}

/** Fails unless the map of a layer, its legend, feature info and coverage, and all addresses to copy have the prefix. */
async function expectMap(console: ConsolePage, prefix: string): Promise<void> {
  const { page } = console;
  const requests: string[] = [];
  page.on("response", (response) => requests.push(`${response.status()} ${response.url()}`));
  await console.open("/ui/layers/ws%3Aroads");
  await page.locator(".map-target[aria-busy=false]").waitFor();
  expect(requests).toContainEqual(expect.stringMatching(`^200 ${prefix}/xyz/ws%3Aroads/`));
  await page.waitForFunction("document.querySelector('img.legend')?.naturalWidth > 0");
  await page.locator(".map-target").click();
  await page.getByText("a road lies here").waitFor();
  await page.getByRole("link", { name: "Addresses" }).click();
  const addresses = await page.locator("dl.commands code").allTextContents();
  expect(addresses.filter((address) => !address.startsWith(`${prefix}/`))).toEqual([]);
  expect(await page.locator("pre.snippet").textContent()).toContain(encodeURIComponent(`${prefix}/service/wmts`));
  const answers = addresses.map(async (address) => {
    const filled = address.replace(/\{(\w+)\}/g, (_, name: string) => PLACE[name] ?? "0");
    return `${(await exchange(filled)).status} ${address}`;
  });
  expect(await Promise.all(answers)).toEqual(addresses.map((address) => `200 ${address}`));
  await page.getByRole("link", { name: "Coverage" }).click();
  await page.getByLabel("Tile", { exact: true }).fill("0/0/0");
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Tile 0/0/0" }).locator(".chip", { hasText: "✔ Stored" }).waitFor();
}

describe.skipIf(!hasChromium)(`the console's connection to its server, in Chromium${reason}`, () => {
  test.skipIf(!hasNginx)(
    "the console works behind nginx with TLS and a path, and another origin gets no request",
    async () => {
      const upstream = await startUpstream();
      onTestFinished(() => upstream.close());
      upstream.behaviour = ({ target }, response) => {
        if (!target.includes("GetFeatureInfo")) return "render";
        response.writeHead(200, { "Content-Type": "text/plain" }).end("a road lies here");
        return "handled";
      };
      const roads = { name: "ws:roads", extra: "queryable: true\n    legends: [{ width: 20, height: 20 }]" };
      const server = await startServer({
        configuration: wmsConfiguration(upstream.url, [roads], "server: { trustProxy: [127.0.0.1] }"),
        env: { NUTHATCH_ADMIN_PASSWORD: "administrator" },
      });
      onTestFinished(() => server.close());
      const nginx = await startNginx(server.port);
      onTestFinished(() => nginx.close());
      const browser = await consoleBrowser();
      await using console = await browser.page({ url: `${nginx.origin}/tiles` });
      const { page } = console;
      await console.open("/");
      await console.signIn("admin", "administrator");
      await page.getByRole("link", { name: "Jobs", exact: true }).click();
      await page.waitForURL(`${nginx.origin}/tiles/ui/jobs`);
      await page.reload();
      await page.getByRole("heading", { level: 1, name: "Jobs" }).waitFor();
      const cookies = await page.context().cookies();
      expect(cookies.map(({ name, path, secure }) => ({ name, path, secure }))).toEqual([
        { name: "nuthatch_session", path: "/tiles", secure: true },
      ]);
      await expectMap(console, `${nginx.origin}/tiles`);
    },
  );

  test("the console says that the server is away, reconnects by itself, and shows what happened meanwhile", async () => {
    const env = { NUTHATCH_PORT: String(await freePort()) };
    const first = await startServer({ env });
    const browser = await consoleBrowser();
    await using console = await browser.page(first);
    const { page } = console;
    await console.open("/");
    await page.getByText("0 jobs running").waitFor();
    await first.kill("SIGKILL");
    await page.getByText("The connection to the server has been lost").waitFor();
    const second = await startServer({ env, dataDir: first.dataDir });
    onTestFinished(() => second.close());
    await page.getByText("The connection to the server has been lost").waitFor({ state: "hidden" });
    await seed(second, "topp:states", { zoomStop: 12, threadCount: 1 });
    await page.getByText("1 job running").waitFor();
  });

  test("while the coordinator is busy all the time, the views come, and a job is started and seen to end", async () => {
    const server = await startServer();
    onTestFinished(() => server.close());
    const browser = await consoleBrowser();
    await using console = await browser.page(server);
    const { page } = console;
    await console.open("/");
    await using load = keepEstimating(server.url);
    const lost: string[] = [];
    await page.exposeFunction("lost", (text: string) => lost.push(text));
    await page.evaluate(`new MutationObserver(() => {
      const text = document.body.textContent;
      if (text.includes("The connection to the server has been lost")) lost(location.pathname);
    }).observe(document.body, { childList: true, subtree: true, characterData: true })`);
    for (const view of ["Layers", "Jobs"]) {
      await page.getByRole("navigation").getByRole("link", { name: view, exact: true }).click();
      await page.getByRole("heading", { level: 1, name: view }).waitFor();
    }
    await seed(server, "topp:states", { zoomStop: 2, threadCount: 1 });
    await page
      .getByRole("row", { name: /topp:states/ })
      .getByText("done", { exact: false })
      .waitFor();
    expect(load.faults).toEqual([]);
    expect(lost).toEqual([]);
  });
});
