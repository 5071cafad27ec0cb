import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../clients/chromium.ts";
import { startServer, type TestServer } from "../support/server/server.ts";
import { wmsConfiguration } from "../support/server/wms-configuration.ts";
import { until } from "../support/until.ts";
import { startUpstream, type Upstream } from "../support/upstream/upstream.ts";
import { type ConsoleBrowser, consoleBrowser, LOOKS } from "./console-page.ts";

const HOSTILE = "<img src=x onerror=document.title='hostile'>";

// Without Debian's Chromium: a loud skip.
describe.skipIf(!hasChromium)("the console's upstreams, in Chromium (Debian package chromium-headless-shell)", () => {
  let browser: ConsoleBrowser;
  let upstream: Upstream;
  let server: TestServer;
  let origin: string;
  beforeAll(async () => {
    upstream = await startUpstream();
    ({ origin } = new URL(upstream.url));
    const layers = Array.from({ length: 10 }, (_, n) => ({ name: `ws:layer${n}` }));
    server = await startServer({ configuration: wmsConfiguration(upstream.url, layers) });
    browser = await consoleBrowser();
  });
  afterAll(async () => {
    await server.close();
    await upstream.close();
  });

  const only = async (): Promise<{ readonly id: string; readonly state: string }> =>
    (await (await fetch(`${server.url}/api/v1/upstreams`)).json()).upstreams[0];

  /** Requests tiles that are not stored until the upstream is in a state. */
  let x = 0;
  const askUntil = (state: string): Promise<true> =>
    until(`the upstream is ${state}`, async () => {
      await (await fetch(`${server.url}/xyz/ws:layer1/12/${x++}/0.png`)).arrayBuffer();
      return (await only()).state === state || undefined;
    });

  test.each(LOOKS)("the list and an upstream are accessible, up and down, $look", async (look) => {
    await using console = await browser.page(server, look);
    const { page } = console;
    await console.open("/ui/upstreams");
    await page.getByRole("heading", { name: origin }).waitFor();
    await console.expectAccessible();
    await upstream.down();
    await askUntil("down");
    await console.open(`/ui/upstreams/${(await only()).id}`);
    await page.getByText(/^Has not answered since /).waitFor();
    await console.expectAccessible();
    await upstream.up();
    await askUntil("up");
  });

  test("the view follows an outage and its end without being asked, and says what it means", async () => {
    await using console = await browser.page(server);
    const { page } = console;
    await askUntil("up");
    await console.open("/ui/upstreams");
    await page.locator(".panel .chip", { hasText: "Up" }).waitFor();
    await page.getByText(/^Has answered since /).waitFor();
    await page.getByText("0 of 8 in use").waitFor();
    await upstream.down();
    await askUntil("down");
    await page.locator(".panel .chip", { hasText: "Down" }).waitFor();
    await page.getByText(/^Has not answered since .*\((now|.* ago)\)\.$/).waitFor();
    await page.getByText(/jobs wait until it answers again/).waitFor();
    await upstream.up();
    await askUntil("up");
    await page.locator(".panel .chip", { hasText: "Up" }).waitFor();
    expect(await page.getByText(/jobs wait until it answers again/).count()).toBe(0);
  });

  test("an upstream that is asked now tells its tile or its failure, which stays text", async () => {
    await using console = await browser.page(server);
    const { page } = console;
    await console.open("/ui/upstreams");
    const ask = page.getByRole("button", {
      name: `Ask it now: one tile of ${origin}, without storing it`,
      exact: true,
    });
    await ask.click();
    await page.getByText(/It answered in .* \(layer ws:layer0\)/).waitFor();
    upstream.behaviour = (_request, response) => {
      response.writeHead(200, { "Content-Type": "application/vnd.ogc.se_xml" });
      const text = HOSTILE.replaceAll("<", "&lt;");
      response.end(`<ServiceExceptionReport><ServiceException>${text}</ServiceException></ServiceExceptionReport>`);
      return "handled";
    };
    await ask.click();
    await page.getByText(/It failed after .* \(layer ws:layer0\): .*<img src=x/).waitFor();
    upstream.behaviour = () => "render";
    expect(await page.title()).toBe("Upstreams · Nuthatch");
  });

  test("an unknown upstream is told, and a server with nothing but demo layers says what would be here", async () => {
    await using console = await browser.page(server);
    await console.open("/ui/upstreams/nothing");
    await console.page.getByText("There is no such upstream.").waitFor();
    const demo = await startServer();
    try {
      await using other = await browser.page(demo);
      await other.open("/ui/upstreams");
      await other.page.getByText("This server has only its demo layers").waitFor();
      await other.expectAccessible();
    } finally {
      await demo.close();
    }
  });
});
