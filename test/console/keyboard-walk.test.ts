import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { hasChromium } from "../clients/chromium.ts";
import { startServer } from "../support/server/server.ts";
import { smallTiles } from "../support/server/wms-configuration.ts";
import { startHeldUpstream } from "../support/upstream/held-upstream.ts";
import { consoleBrowser } from "./console-page.ts";

const MOST_TABS = 120;

/** Operates a page by the keyboard alone. */
class Keyboard {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  /** Presses Tab until a control has the focus. Waits until it can be used: a button that sends its request cannot. */
  async reach(role: Parameters<Page["getByRole"]>[0], name: string | RegExp): Promise<void> {
    const control = this.#page.getByRole(role, { name, ...(typeof name === "string" ? { exact: true } : {}) });
    await control.and(this.#page.locator(":not(:disabled):not([aria-disabled])")).first().waitFor();
    const focused = control.and(this.#page.locator(":focus"));
    for (let n = 0; n < MOST_TABS; n++) {
      if ((await focused.count()) > 0) return;
      await this.#page.keyboard.press("Tab");
    }
    throw new Error(`Tab does not reach the ${role} ${name}`);
  }

  async press(role: Parameters<Page["getByRole"]>[0], name: string | RegExp): Promise<void> {
    await this.reach(role, name);
    await this.#page.keyboard.press("Enter");
  }

  async type(name: string, text: string): Promise<void> {
    await this.reach("textbox", name);
    await this.#page.keyboard.press("Control+A");
    await this.#page.keyboard.type(text);
  }

  /** Presses the keys of a shortcut. They count outside of fields only. */
  async shortcut(...keys: readonly string[]): Promise<void> {
    await this.#page.getByRole("heading", { level: 1 }).focus();
    for (const key of keys) await this.#page.keyboard.press(key);
  }
}

const reason = hasChromium ? "" : " (skipped: needs Debian's chromium-headless-shell)";
if (!hasChromium) console.warn("SKIPPED: test/console/keyboard-walk.test.ts needs Debian's chromium-headless-shell");

test.skipIf(!hasChromium)(
  `by the keyboard alone: sign in, seed an area, pause, resume, see a failed tile, retry, truncate and undo${reason}`,
  async () => {
    const held = await startHeldUpstream();
    const { upstream } = held;
    onTestFinished(() => upstream.close());
    const rendering = upstream.behaviour;
    // The map server refuses one tile: the upper right one of level 2.
    upstream.behaviour = (requested, response) => {
      const [minX = 0, minY = 0] = requested.bbox.split(",").map(Number);
      if (minX < 10_000_000 || minY < 10_000_000) return rendering(requested, response);
      response.writeHead(200, { "Content-Type": "application/vnd.ogc.se_xml" });
      response.end(
        "<ServiceExceptionReport><ServiceException>no such place</ServiceException></ServiceExceptionReport>",
      );
      return "handled";
    };
    const server = await startServer({
      configuration: smallTiles(upstream.url, [{ name: "ws:roads", extra: "metatile: [1, 1]", timeoutSeconds: 600 }]),
      env: { NUTHATCH_ADMIN_PASSWORD: "administrator" },
    });
    onTestFinished(() => server.close());
    const browser = await consoleBrowser();
    await using console = await browser.page(server);
    const { page } = console;
    const keyboard = new Keyboard(page);

    // The element that has the focus when the title of the form appears.
    await page.addInitScript(`new MutationObserver(() => {
      if (document.querySelector("main h1")?.textContent === "New job") window.focused ??= document.activeElement.tagName;
    }).observe(document, { childList: true, subtree: true })`);
    await console.open("/");
    await keyboard.type("Name", "admin");
    await page.keyboard.press("Tab");
    await page.keyboard.type("administrator");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();

    await keyboard.shortcut("n");
    await page.getByRole("heading", { level: 1, name: "New job" }).waitFor();
    expect(await page.evaluate("window.focused"), "a later focus would end the typing in a field").toBe("H1");
    await keyboard.reach("combobox", "Layer");
    await page.keyboard.type("ws:roads");
    await page.waitForURL(/layer=ws%3Aroads/);
    await page.getByText("tiles to render").waitFor();
    for (const [field, text] of [
      ["Min x", "0"],
      ["Min y", "0"],
      ["Max x", "20037508"],
      ["Max y", "20037508"],
    ] as const)
      await keyboard.type(field, text);
    await keyboard.reach("combobox", "To");
    await page.keyboard.press("Home");
    for (let n = 0; n < 2; n++) await page.keyboard.press("ArrowDown");
    const start = /^Start: render 6 tiles$/;
    await page.getByRole("button", { name: start }).waitFor();
    // A map that is closed gives the browser's connections back, of which the upstream holds three.
    const tileEnds = page.waitForEvent("requestfailed", (request) => request.url().includes("/xyz/"));
    await keyboard.press("button", start);
    await page.waitForURL(/\/ui\/jobs\/1$/);
    await tileEnds;

    await keyboard.press("button", "Pause");
    await page
      .getByRole("button", { name: /^Resume/ })
      .first()
      .waitFor();
    held.isOpen = true;
    held.release();
    await keyboard.press("button", "Resume");
    await page
      .getByRole("status")
      .filter({ hasText: /1 of 6 tiles failed/ })
      .waitFor();

    upstream.behaviour = rendering;
    await keyboard.press("button", /^Retry[^:]*$/);
    await page.waitForURL(/\/ui\/jobs\/2$/);
    await page
      .getByRole("status")
      .filter({ hasText: /^\W*Done: 1 tile$/ })
      .waitFor();

    await keyboard.shortcut("g", "t");
    await page.getByRole("heading", { level: 1, name: "Truncations" }).waitFor();
    const stored = async (): Promise<number> => {
      const headers = { Authorization: `Basic ${btoa("admin:administrator")}` };
      return (await (await fetch(`${server.url}/api/v1/usage`, { headers })).json()).total.tiles;
    };
    const before = await stored();
    expect(before).toBeGreaterThan(5);
    await keyboard.press("button", "Truncate a layer …");
    await keyboard.reach("combobox", "Layer");
    await page.keyboard.type("ws:roads");
    await page.getByText(/This removes \d+ tiles/).waitFor();
    await keyboard.press("button", "Truncate");
    await page.locator(".chip", { hasText: "can be undone" }).waitFor();
    expect(await stored()).toBe(0);
    await keyboard.press("button", "Undo truncation 1 of ws:roads");
    await page.getByRole("dialog").waitFor();
    await keyboard.press("button", "Undo");
    await page.locator(".chip", { hasText: /^\W*undone$/ }).waitFor();
    expect(await stored()).toBe(before);
  },
);
