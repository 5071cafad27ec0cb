import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../clients/chromium.ts";
import { ended, startServer, type TestServer } from "../support/server/server.ts";
import { smallTiles } from "../support/server/wms-configuration.ts";
import { until } from "../support/until.ts";
import { startUpstream, type Upstream } from "../support/upstream/upstream.ts";
import { type ConsoleBrowser, consoleBrowser, LOOKS } from "./console-page.ts";

const NIGHTLY = {
  name: "nightly",
  cron: "30 2 * * *",
  timeZone: "Europe/Zurich",
  window: { start: "22:00", end: "06:00" },
  job: { layer: "ws:roads", type: "seed", zoomStop: 1 },
};

interface StoredSchedule {
  readonly cron: string;
  readonly paused: boolean;
  readonly window: unknown;
  readonly job: Readonly<Record<string, unknown>>;
  readonly runs: readonly unknown[];
}

// Without Debian's Chromium: a loud skip.
describe.skipIf(!hasChromium)("the console's schedules, in Chromium (Debian package chromium-headless-shell)", () => {
  let browser: ConsoleBrowser;
  let server: TestServer;
  let upstream: Upstream;

  const send = async (method: string, path: string, body?: unknown): Promise<Response> =>
    fetch(`${server.url}/api/v1/${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }),
    });
  const stored = async (name: string): Promise<StoredSchedule> =>
    JSON.parse(await (await send("GET", `schedules/${encodeURIComponent(name)}`)).text());

  beforeAll(async () => {
    upstream = await startUpstream();
    server = await startServer({ configuration: smallTiles(upstream.url, [{ name: "ws:roads" }]) });
    browser = await consoleBrowser();
    await send("PUT", "schedules/nightly", NIGHTLY);
    await send("PUT", "schedules/new", { cron: "*/5 * * * *", job: { layers: "ws:*", type: "truncate" } });
    await send("POST", "schedules/new/pause");
    const made: { id: number } = JSON.parse(await (await send("POST", "schedules/nightly/run")).text());
    await send("POST", `jobs/${made.id}/resume`);
    await ended(server, made.id);
  });
  afterAll(async () => {
    await server.close();
    await upstream.close();
  });

  test.each(LOOKS)("the list, a schedule and the form are accessible, $look", async (look) => {
    await using console = await browser.page(server, look);
    const { page } = console;
    await console.open("/ui/schedules");
    await page.getByRole("img", { name: "Last runs, the newest at the end: 1 done" }).waitFor();
    await console.expectAccessible();
    await console.open("/ui/schedules/nightly");
    await page
      .getByRole("img", { name: /1 run: 02:30/ })
      .first()
      .waitFor();
    await console.expectAccessible();
    await console.open("/ui/schedules/nightly/edit");
    await page.getByText(/^Would render/).waitFor();
    await console.expectAccessible();
  });

  test("the week shows runs and windows by the clocks of the schedule", async () => {
    await using console = await browser.page(server);
    const { page } = console;
    await console.open("/ui/schedules");
    await page.getByRole("link", { name: "nightly" }).click();
    await page.waitForURL("**/ui/schedules/nightly");
    const tomorrow = page.locator(".week svg").nth(1);
    await tomorrow.waitFor();
    await until("the preview has arrived", async () => (await tomorrow.locator(".run").count()) === 1 || undefined);
    expect(await tomorrow.getAttribute("aria-label")).toMatch(/; 1 run: 02:30; works 00:00–06:00; works 22:00–24:00$/);
    await expect.poll(() => page.locator(".next-runs li").count()).toBe(10);
    await page.getByText("Times in Europe/Zurich").waitFor();
  });

  test("a schedule is paused, resumed, run after its tiles were counted, removed and brought back", async () => {
    await using console = await browser.page(server);
    const { page } = console;
    await send("PUT", "schedules/hourly", { cron: "@hourly", job: { ...NIGHTLY.job, type: "reseed" } });
    await console.open("/ui/schedules/hourly");
    await page.getByRole("button", { name: "Pause: hourly", exact: true }).click();
    await page.getByText("This schedule is paused").waitFor();
    expect((await stored("hourly")).paused).toBe(true);
    await page.keyboard.press("p");
    await page.getByText("This schedule is paused").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Run now: hourly", exact: true }).click();
    const run = page.getByRole("dialog", { name: "Run hourly now?" });
    await run.getByText(/^Would render 5 tiles now/).waitFor();
    await run.getByText("nuthatch schedule run hourly").waitFor();
    await run.getByRole("button", { name: "Run now", exact: true }).click();
    await page.getByRole("button", { name: "Show the job" }).waitFor();
    await page.getByRole("cell", { name: "done" }).waitFor();
    await page.getByRole("button", { name: "Remove", exact: true }).click();
    await page
      .getByRole("dialog", { name: "Remove hourly?" })
      .getByRole("button", { name: "Remove", exact: true })
      .click();
    await page.waitForURL("**/ui/schedules");
    await page.getByRole("link", { name: "hourly" }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("link", { name: "hourly" }).waitFor();
    expect((await stored("hourly")).job).toEqual({ layer: "ws:roads", type: "reseed", zoomStop: 1 });
  });

  test("a new schedule has the fields of the address, shows errors at their fields, and is saved", async () => {
    await using console = await browser.page(server);
    const { page } = console;
    const job = {
      layer: "ws:roads",
      type: "reseed",
      zoomStop: 1,
      area: "POLYGON((0 0,9 0,9 9,0 0))",
      onlyExisting: true,
    };
    await console.open(`/ui/schedules/new?job=${encodeURIComponent(JSON.stringify(job))}`);
    await expect.poll(() => page.getByLabel("Layer", { exact: true }).inputValue()).toBe("ws:roads");
    await expect.poll(() => page.getByLabel("Type", { exact: true }).inputValue()).toBe("reseed");
    await page.getByText("Limited to an area.").waitFor();
    await page.getByLabel("Name", { exact: true }).fill("weekly <b>");
    await page.getByLabel("Times (cron)").fill("30 2 * *");
    await page
      .locator(".field", { has: page.getByLabel("Times (cron)") })
      .getByRole("alert")
      .waitFor();
    await page.getByLabel("Times (cron)").fill("30 2 * * MON");
    await page.getByLabel("To level").fill("99");
    await page
      .locator(".field", { has: page.getByLabel("To level") })
      .getByRole("alert")
      .waitFor();
    await page.getByLabel("To level").fill("1");
    await page.getByLabel("Works only from").fill("22:00");
    await page.getByLabel("until").fill("06:00");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page
      .locator(".field", { has: page.getByLabel("Name", { exact: true }) })
      .getByRole("alert")
      .waitFor();
    await page.getByLabel("Name", { exact: true }).fill("weekly");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.waitForURL("**/ui/schedules/weekly");
    expect(await stored("weekly")).toMatchObject({
      cron: "30 2 * * MON",
      window: { start: "22:00", end: "06:00" },
      job: { layer: "ws:roads", type: "reseed", onlyExisting: true, area: expect.stringContaining("POLYGON") },
    });
  });

  test("the fields of the form of a new job fill in the form too, and its hours are those of the schedule", async () => {
    await using console = await browser.page(server);
    const { page } = console;
    const runWindow = encodeURIComponent('{"from":"20:00","to":"04:00","timeZone":"Asia/Tokyo"}');
    await console.open(`/ui/schedules/new?layer=ws:roads&zoomStart=1&zoomStop=2&bounds=0,0,9,9&runWindow=${runWindow}`);
    await expect.poll(() => page.getByLabel("Time zone").inputValue()).toBe("Asia/Tokyo");
    await expect.poll(() => page.getByLabel("Works only from").inputValue()).toBe("20:00");
    await expect.poll(() => page.getByLabel("From level").inputValue()).toBe("1");
    await expect.poll(() => page.getByLabel("Bounds").inputValue()).toBe("0, 0, 9, 9");
  });

  test("a schedule is changed, and keeps its runs and its pause", async () => {
    await using console = await browser.page(server);
    const { page } = console;
    await console.open("/ui/schedules/new/runs");
    await page.getByText("This schedule is paused").waitFor();
    await page.getByRole("link", { name: "Edit" }).click();
    await page.getByLabel("Times (cron)").fill("0 4 1 * *");
    await expect.poll(() => page.getByLabel("Layer", { exact: true }).inputValue()).toBe("ws:*");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.waitForURL("**/ui/schedules/new/runs");
    expect(await stored("new")).toMatchObject({ cron: "0 4 1 * *", paused: true, job: { layers: ["ws:*"] } });
  });
});
