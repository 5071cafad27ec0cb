import { expect, onTestFinished, test } from "vitest";
import { hasChromium, launchChromium } from "../clients/chromium.ts";
import { startServer } from "../support/server/server.ts";

test.skipIf(!hasChromium)(
  "the search finds sections without a network, and the policy blocks nothing (Debian package chromium-headless-shell)",
  async () => {
    const server = await startServer();
    onTestFinished(() => server.close());
    const browser = await launchChromium({ webGl: false });
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("requestfailed", (request) => complaints.push(request.url()));
    await page.goto(`${server.url}/geowebcache/docs/how-to/install.html`);
    await page.keyboard.press("/");
    await page.keyboard.type("evict LFU");
    const first = page.locator(".results a").first();
    await first.waitFor();
    expect(await first.textContent()).toMatch(/quota.*Eviction/i);
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/geowebcache\/docs\/reference\/quota\.html#/);
    expect(await page.locator("h1").textContent()).toBe("The disk quota");
    expect(complaints).toEqual([]);
  },
);
