import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Browser, Page } from "playwright-core";
import { expect } from "vitest";
import { launchChromium } from "../clients/chromium.ts";
import { isFull } from "../support/full.ts";
import type { TestServer } from "../support/server/server.ts";
import { until } from "../support/until.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** All sizes and colours in which the documentation and the whole tests show a view. */
export const ALL_LOOKS = [
  { look: "wide and light", width: 1400, height: 900, colorScheme: "light" },
  { look: "narrow and dark", width: 390, height: 800, colorScheme: "dark" },
  { look: "wide and dark", width: 1400, height: 900, colorScheme: "dark" },
  { look: "narrow and light", width: 390, height: 800, colorScheme: "light" },
] as const;
/** The sizes and colours in which each view is checked: the hardest, and all with NUTHATCH_FULL. */
export const LOOKS = isFull ? ALL_LOOKS : ALL_LOOKS.slice(1, 2);
export type Look = (typeof ALL_LOOKS)[number];

/** A page of the console in Chromium. */
export interface ConsolePage extends AsyncDisposable {
  readonly page: Page;
  /** Shows a view and waits for its title. `path` is under the server's address. */
  open(path: string): Promise<void>;
  /** Waits until all documents have arrived, and all tiles of a map. */
  settled(): Promise<void>;
  /** Signs in by the form. */
  signIn(name: string, password: string): Promise<void>;
  /** Fails on accessibility faults of serious impact or worse, and on content that is wider than the window. */
  expectAccessible(): Promise<void>;
}

export interface ConsoleBrowser {
  page(server: Pick<TestServer, "url">, look?: Look): Promise<ConsolePage>;
}

/**
 * Chromium of this process, for all its files. Each page has separate cookies and a separate cache. Chromium ends with
 * the process.
 */
let chromium: Promise<Browser> | undefined;

/**
 * Starts Chromium for pages of the console, if it does not run yet. A page fails its test when it logs an error, sends
 * a request to another origin, or violates its Content-Security-Policy.
 */
export async function consoleBrowser(): Promise<ConsoleBrowser> {
  chromium ??= launchChromium({ webGl: false });
  const browser = await chromium;
  return { page: (server, look = ALL_LOOKS[0]) => consolePage(browser, server.url, look) };
}

async function consolePage(browser: Browser, url: string, look: Look): Promise<ConsolePage> {
  const { width, height, colorScheme } = look;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme,
    locale: "en-GB",
    ignoreHTTPSErrors: true,
  });
  const page = await context.newPage();
  // The gate's machine is busy: a view may take many times its usual time.
  page.setDefaultTimeout(60_000);
  const faults: string[] = [];
  page.on("console", (message) => {
    // Chromium logs each answer of 400 and above. The console shows them itself.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      faults.push(message.text());
  });
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("request", (request) => {
    const address = request.url();
    if (!address.startsWith(url) && !address.startsWith("data:") && !address.startsWith("blob:"))
      faults.push(`a request to another origin: ${address}`);
  });
  return {
    page,
    async open(path) {
      await page.goto(url + path);
      await page.locator("h1").first().waitFor();
    },
    async settled() {
      const pending = page.locator(".loading, [aria-busy=true], .map-target:not([aria-busy])");
      await until("everything is loaded", async () => (await pending.count()) === 0 || undefined, 30_000);
    },
    async signIn(name, password) {
      await page.getByLabel("Name").fill(name);
      await page.getByLabel("Password").fill(password);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.locator("header.top").waitFor();
    },
    async expectAccessible() {
      // The policy of the page forbids foreign scripts; a script of the driver runs beside it.
      await page.evaluate(AXE);
      const { violations } = await page.evaluate<AxeResults>("axe.run(document, { resultTypes: ['violations'] })");
      const serious = violations
        .filter(({ impact }) => impact === "serious" || impact === "critical")
        .map(
          ({ id, nodes }) =>
            `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join("\n")}`,
        );
      expect(serious, look.look).toEqual([]);
      const excess = await page.evaluate<number>("document.documentElement.scrollWidth - window.innerWidth");
      expect(excess, `${look.look}: the content is wider than the window`).toBeLessThanOrEqual(0);
    },
    async [Symbol.asyncDispose]() {
      await context.close();
      expect(faults).toEqual([]);
    },
  };
}
