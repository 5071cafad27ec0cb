import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../clients/chromium.ts";
import { skippedOnNodes } from "../support/cluster/balanced.ts";
import { newCluster, nodesOf, type TestCluster } from "../support/cluster/cluster.ts";
import { hasPostgres } from "../support/postgres/postgres.ts";
import { startServer, type TestServer } from "../support/server/server.ts";
import { isReady, until } from "../support/until.ts";
import { startUpstream, type Upstream } from "../support/upstream/upstream.ts";
import { type ConsoleBrowser, consoleBrowser, LOOKS } from "./console-page.ts";

if (!hasPostgres) console.warn("SKIPPED: test/console/nodes.test.ts needs Debian's package postgresql");
if (!hasChromium) console.warn("SKIPPED: test/console/nodes.test.ts needs Debian's chromium-headless-shell");

describe.skipIf(!hasChromium || !hasPostgres)("the console's nodes, in Chromium, of a cluster on PostgreSQL", () => {
  let browser: ConsoleBrowser;
  let upstream: Upstream;
  let cluster: TestCluster;
  let a: TestServer;
  let b: TestServer;
  beforeAll(async () => {
    upstream = await startUpstream();
    // Longer leases than other tests: a node that is cut off for a moment cannot show the page.
    cluster = newCluster({ upstream: upstream.url, keys: "nodeLeaseSeconds: 5, leadLeaseSeconds: 20" });
    a = await cluster.start("a");
    await isReady(a);
    b = await cluster.start("b");
    await isReady(b);
    browser = await consoleBrowser();
  });
  afterAll(async () => {
    await cluster?.close();
    await upstream?.close();
  });

  const stateOf = async (name: string): Promise<string | undefined> =>
    (await nodesOf(b).catch(() => [])).find((node) => node.name === name)?.state;

  test.each(LOOKS)("the nodes are accessible, $look", async (look) => {
    await using console = await browser.page(b, look);
    await console.open("/ui/nodes");
    await console.page.getByText("this node").waitFor();
    await console.settled();
    await console.expectAccessible();
    const { NUTHATCH_TEST_PICTURES: folder } = process.env;
    if (folder !== undefined)
      await console.page.screenshot({ path: `${folder}/nodes-${look.look.replaceAll(" ", "-")}.png`, fullPage: true });
  });

  test("the lead, the node that answers, and the work of each are shown, and follow by themselves", async () => {
    await using console = await browser.page(b);
    const { page } = console;
    await console.open("/");
    await page.getByRole("link", { name: "Nodes" }).click();
    await page.getByRole("heading", { level: 1, name: "Nodes" }).waitFor();
    const row = (name: string) => page.getByRole("row").filter({ has: page.locator("b", { hasText: name }) });
    await row("b").getByText("this node").waitFor();
    await row((await nodesOf(b)).find(({ lead }) => lead)?.name ?? "")
      .getByText(/\bLead$/)
      .waitFor();
    const served = () => row("b").locator('td[data-label="Tiles served"]');
    const before = Number(await served().textContent());
    await (await fetch(`${b.url}/xyz/ws:roads/3/2/5.png`)).arrayBuffer();
    await until(
      "the page shows the tile",
      async () => Number(await served().textContent()) === before + 1 || undefined,
    );
  });

  test("a node is drained and taken back by the keyboard alone, and the last one cannot be drained", async () => {
    await using console = await browser.page(b);
    const { page } = console;
    await console.open("/");
    await page.getByRole("link", { name: "Nodes" }).waitFor();
    await page.getByRole("heading", { level: 1 }).focus();
    await page.keyboard.press("g");
    await page.keyboard.press("n");
    await page.getByRole("heading", { level: 1, name: "Nodes" }).waitFor();
    const press = async (name: string): Promise<void> => {
      const control = page.getByRole("button", { name, exact: true });
      await control.last().focus();
      await page.keyboard.press("Enter");
    };
    await press("Drain node a");
    const dialog = page.getByRole("dialog");
    await dialog.getByText("nuthatch node drain a").waitFor();
    await press("Drain …");
    await page.getByText("Node a is drained.").waitFor();
    await page.getByRole("row").filter({ hasText: "Drained" }).waitFor();
    expect(await page.getByRole("button", { name: "Drain node b" }).count()).toBe(0);
    expect(await stateOf("a")).toBe("draining");
    await press("Take back node a");
    await page.getByText("Node a is back.").waitFor();
    await until("a is ready", async () => (await stateOf("a")) === "ready" || undefined);
  });

  test.skipIf(skippedOnNodes("the test is about a server that is alone"))(
    "a server that is alone has no such entry, and says so at the address",
    async () => {
      const alone = await startServer();
      try {
        await using console = await browser.page(alone);
        await console.open("/ui/nodes");
        await console.page.getByText("This server is alone").waitFor();
        await console.page.locator(".server-chip").first().waitFor();
        expect(await console.page.getByRole("link", { name: "Nodes" }).count()).toBe(0);
        await console.expectAccessible();
      } finally {
        await alone.close();
      }
    },
  );
});
