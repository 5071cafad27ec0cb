import { existsSync } from "node:fs";
import puppeteer, { type Browser, type Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startServer, type TestServer } from "../support/server/server.ts";

const PROGRAM = "/usr/bin/firefox-esr";
const hasFirefox = existsSync(PROGRAM);
const reason = hasFirefox ? "" : " (skipped: needs Debian's firefox-esr)";
if (!hasFirefox) console.warn("SKIPPED: test/console/firefox.test.ts needs Debian's firefox-esr");

const VIEWS = [
  "/",
  "/ui/layers",
  "/ui/layers/topp%3Astates",
  "/ui/layers/topp%3Astates/coverage",
  "/ui/jobs",
  "/ui/jobs/1",
  "/ui/new",
  "/ui/quota",
  "/ui/schedules",
  "/ui/truncations",
  "/ui/upstreams",
  "/ui/activity",
  "/ui/settings",
];

// Playwright cannot drive Debian's Firefox: it sends a command that this Firefox does not know.
describe.skipIf(!hasFirefox)(`the console in Firefox${reason}`, () => {
  let server: TestServer;
  let browser: Browser;
  beforeAll(async () => {
    server = await startServer({ env: { NUTHATCH_ADMIN_PASSWORD: "administrator" } });
    const made = await fetch(`${server.url}/api/v1/jobs`, {
      method: "POST",
      headers: { authorization: `Basic ${Buffer.from("admin:administrator").toString("base64")}` },
      body: '{"layer":"topp:states","zoomStop":1}',
    });
    expect(made.status).toBe(201);
    browser = await puppeteer.launch({ browser: "firefox", executablePath: PROGRAM });
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
  });

  test("every view is shown after the sign-in, and no script fails", async () => {
    const page: Page = await browser.newPage();
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(String(error)));
    await page.goto(`${server.url}/`);
    await page.locator("#name").fill("admin");
    await page.locator("#password").fill("administrator");
    await page.locator("button[type=submit]").click();
    await page.locator("header.top").wait();
    for (const path of VIEWS) {
      await page.goto(server.url + path);
      const title = await page.waitForSelector("main .page h1", { timeout: 60_000 });
      expect(await title?.evaluate((h1) => h1.textContent), path).toMatch(/\S/);
      expect(await page.$("main [role=alert].problem"), path).toBeNull();
    }
    expect(faults).toEqual([]);
  });
});
