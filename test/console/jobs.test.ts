import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../clients/chromium.ts";
import { ended, job, startServer, type TestServer } from "../support/server/server.ts";
import { smallTiles } from "../support/server/wms-configuration.ts";
import { until } from "../support/until.ts";
import { type HeldUpstream, startHeldUpstream } from "../support/upstream/held-upstream.ts";
import { startUpstream, type Upstream } from "../support/upstream/upstream.ts";
import { type ConsoleBrowser, consoleBrowser, LOOKS } from "./console-page.ts";

const HOSTILE = "<img src=x onerror=document.title='hostile'>";

/** Makes a job and returns its id. */
async function makeJob(server: TestServer, body: Readonly<Record<string, unknown>>): Promise<number> {
  const response = await fetch(`${server.url}/api/v1/jobs`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ tileFailureRetryCount: 0, ...body }),
  });
  const made: { id?: number; jobs?: { id: number }[] } = JSON.parse(await response.text());
  return made.id ?? made.jobs?.[0]?.id ?? Number.NaN;
}

interface HeldServer extends AsyncDisposable {
  readonly server: TestServer;
  readonly held: HeldUpstream;
  /** The first of two jobs of one request, which wait for the upstream. */
  readonly batch: number;
}

/** Starts a server with a job that has ended and two that wait for an upstream. */
async function startHeldServer(): Promise<HeldServer> {
  const held = await startHeldUpstream();
  const configuration = smallTiles(held.upstream.url, [{ name: "ws:roads", timeoutSeconds: 600 }]);
  const server = await startServer({ configuration });
  await ended(server, await makeJob(server, { layer: "ws:roads", type: "truncate", zoomStop: 1 }));
  const batch = await makeJob(server, { layers: ["ws:roads"], gridSets: "*", zoomStart: 4, zoomStop: 4 });
  return {
    server,
    held,
    batch,
    async [Symbol.asyncDispose]() {
      await server.close();
      await held.upstream.close();
    },
  };
}

// Without Debian's Chromium: a loud skip.
describe.skipIf(!hasChromium)("the console's jobs, in Chromium (Debian package chromium-headless-shell)", () => {
  let browser: ConsoleBrowser;
  let server: TestServer;
  let faulty: Upstream;
  const ids = { done: 0, failed: 0, some: 0, batch: 0 };

  beforeAll(async () => {
    faulty = await startUpstream();
    let requests = 0;
    faulty.behaviour = ({ target }, response) => {
      if (target.includes("LAYERS=good") || (target.includes("LAYERS=some") && requests++ % 4 !== 0)) return "render";
      response.writeHead(200, { "Content-Type": "application/vnd.ogc.se_xml" });
      const text = HOSTILE.replaceAll("<", "&lt;");
      response.end(`<ServiceExceptionReport><ServiceException>${text}</ServiceException></ServiceExceptionReport>`);
      return "handled";
    };
    const layers = ["good", "bad", "some"].map((name) => ({ name: `ws:${name}`, extra: "metatile: [1, 1]" }));
    const names = ["good", "bad", "some"].values();
    const configuration = smallTiles(faulty.url, layers).replace(
      /layers: \[roads\]/g,
      () => `layers: [${names.next().value}]`,
    );
    server = await startServer({ configuration });
    browser = await consoleBrowser();
    ids.failed = await makeJob(server, { layer: "ws:bad", zoomStop: 1 });
    ids.some = await makeJob(server, { layer: "ws:some", zoomStop: 2 });
    ids.done = await makeJob(server, { layer: "ws:good", zoomStop: 1 });
    ids.batch = await makeJob(server, { layers: ["ws:good"], gridSets: "*", zoomStart: 1, zoomStop: 2 });
    for (const id of [ids.failed, ids.some, ids.done, ids.batch, ids.batch + 1]) await ended(server, id);
  });
  afterAll(async () => {
    await server.close();
    await faulty.close();
  });

  test.each(LOOKS)("the list and a job are accessible, $look", async (look) => {
    await using console = await browser.page(server, look);
    const { page } = console;
    await console.open(`/ui/jobs?open=${ids.batch}`);
    await page.getByRole("link", { name: `#${ids.batch} seed` }).waitFor();
    await console.expectAccessible();
    for (const id of [ids.some, ids.batch]) {
      await console.open(`/ui/jobs/${id}`);
      await page.getByRole("heading", { name: "Timeline" }).waitFor();
      await console.expectAccessible();
    }
  });

  test("chips and filters stand in the address, and the list shows what they select", async () => {
    await using console = await browser.page(server);
    const { page } = console;
    await console.open("/ui/jobs");
    const rows = page.locator("tbody tr");
    await page.getByRole("link", { name: "done with failures 1", exact: true }).click();
    await page.waitForURL("**/ui/jobs?state=done_with_failures");
    await page.getByRole("link", { name: `#${ids.some} seed` }).waitFor();
    await expect.poll(() => rows.count()).toBe(1);
    await page.getByRole("link", { name: /^All/ }).click();
    await page.getByLabel("Search").fill("SOME");
    await page.waitForURL("**/ui/jobs?q=SOME");
    await page.getByRole("link", { name: /^All 1$/ }).waitFor();
    await expect.poll(() => rows.count()).toBe(1);
    await page.reload();
    await page.getByRole("link", { name: `#${ids.some} seed` }).waitFor();
    await expect.poll(() => page.getByLabel("Search").inputValue()).toBe("SOME");
    await page.getByRole("button", { name: "Clear filters" }).click();
    await page.getByLabel("Type").selectOption("truncate");
    await page.getByText("No job matches these filters.").waitFor();
  });

  test("the jobs of one request are one row, which opens", async () => {
    await using console = await browser.page(server);
    const { page } = console;
    await console.open("/ui/jobs");
    const fold = page.getByRole("button", { name: "2 jobs together" });
    await fold.click();
    const member = page.getByRole("link", { name: `#${ids.batch + 1} seed` });
    await member.waitFor();
    expect(new URL(page.url()).searchParams.get("open")).toBe(String(ids.batch));
    await fold.click();
    await member.waitFor({ state: "detached" });
  });

  test("a job tells its outcome and explains a failed tile, and its failed tiles are retried", async () => {
    await using console = await browser.page(server);
    const { page } = console;
    await console.open(`/ui/jobs/${ids.some}`);
    await page
      .getByRole("status")
      .filter({ hasText: /Done, \d+ of 21 tiles failed$/ })
      .waitFor();
    await console.open(`/ui/jobs/${ids.failed}`);
    await page
      .getByRole("status")
      .filter({ hasText: `Failed: all 5 tiles, ${HOSTILE}` })
      .waitFor();
    await page.getByText("Each failed tile").click();
    await page.getByRole("button", { name: "Explain tile 1/0/0" }).click();
    await page.getByRole("dialog", { name: "Tile 1/0/0" }).getByText("Failed with").waitFor();
    await page.keyboard.press("Escape");
    expect(await page.title()).not.toBe("hostile");
    await page.getByRole("button", { name: "Retry the 5 failed tiles", exact: true }).click();
    await page.getByRole("heading", { name: /^Job \d+: seed of ws:bad$/ }).waitFor();
    await page
      .getByRole("definition")
      .getByRole("link", { name: `#${ids.failed}` })
      .waitFor();
  });

  test("selected jobs are paused and resumed together, after a confirmation that says how many", async () => {
    await using own = await startHeldServer();
    await using console = await browser.page(own.server);
    const { page } = console;
    await console.open("/ui/jobs");
    const bulk = page.locator(".bulk");
    for (const [action, paused, opposite] of [
      ["Pause", true, "Resume"],
      ["Resume", false, "Pause"],
    ] as const) {
      await page.getByLabel("Select all", { exact: true }).check();
      await expect.poll(() => bulk.getByRole("button", { name: opposite }).isDisabled()).toBe(true);
      await bulk.getByRole("button", { name: action }).click();
      const dialog = page.getByRole("dialog", { name: `${action} 2 jobs?` });
      await dialog.getByText("This applies to 2 of the 3 selected jobs.").waitFor();
      expect(await dialog.getByRole("definition").first().textContent()).toContain(
        `/api/v1/jobs/${own.batch + 1}/${action.toLowerCase()}`,
      );
      await dialog.getByRole("button", { name: `${action}: 2 jobs` }).click();
      await page.getByRole("link", { name: `paused ${paused ? 2 : 0}` }).waitFor();
      expect((await job(own.server, own.batch)).paused).toBe(paused);
    }
  });

  test("a running job moves by events, changes its rate, and is cancelled", async () => {
    await using own = await startHeldServer();
    await using console = await browser.page(own.server);
    const { page } = console;
    const id = own.batch;
    await console.open(`/ui/jobs/${id}`);
    await page.getByText("0 of 256").first().waitFor();
    await until("both jobs ask", async () => (own.held.waiting().length > 1 ? true : undefined));
    own.held.release();
    await page
      .locator("table.levels")
      .getByText(/^[1-9]\d* of 256$/)
      .waitFor();
    await page.keyboard.press("p");
    await page.getByRole("status").filter({ hasText: "Paused" }).waitFor();
    const timeline = page.locator(".timeline li");
    await timeline.filter({ hasText: /paused \(.* so far\)$/ }).waitFor();
    await page.getByText(/^Since /).waitFor();
    await page.getByRole("button", { name: "Change …" }).click();
    await page.getByLabel("Rate limit, tiles per second").fill("2.5");
    await page.getByLabel("Threads").fill("3");
    await page.getByRole("button", { name: "Apply: as curl and command line" }).click();
    await page.getByText(`nuthatch job ${id} --rate-limit 2.5 --threads 3`).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Apply", exact: true }).click();
    await page.getByText("2.5/s").waitFor();
    await page.getByText("3 tasks").waitFor();
    expect(await job(own.server, id)).toMatchObject({ rateLimit: 2.5, threadCount: 3, priority: 10 });
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: `Cancel job ${id}?` });
    await dialog.getByText(/^\d+ tiles that are not rendered yet will not be rendered/).waitFor();
    await dialog.getByRole("button", { name: "Cancel", exact: true }).click();
    await page.getByRole("status").filter({ hasText: "Cancelled" }).waitFor();
    await page.getByRole("button", { name: "Do the rest", exact: true }).waitFor();
    await timeline.filter({ hasText: "ended" }).waitFor();
  });

  test("all running and waiting jobs are cancelled at once", async () => {
    await using own = await startHeldServer();
    await using console = await browser.page(own.server);
    const { page } = console;
    await console.open("/ui/jobs");
    await page.getByText("Cancel jobs …").click();
    await page.getByRole("button", { name: "Cancel all jobs" }).click();
    const dialog = page.getByRole("dialog", { name: "Cancel all jobs" });
    await dialog.getByText("nuthatch cancel --all").waitFor();
    await dialog.getByText(/^2 jobs end at once/).waitFor();
    await dialog.getByRole("button", { name: "Cancel all jobs: 2 jobs" }).click();
    await page.getByRole("link", { name: "cancelled 2" }).waitFor();
    expect((await job(own.server, own.batch)).outcome).toBe("aborted");
  });
});
