import { readdirSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { hasChromium } from "../clients/chromium.ts";
import { ended, seed, startServer } from "../support/server/server.ts";
import { consoleBrowser } from "./console-page.ts";

const FOLDER = fileURLToPath(new URL("../../dist/ui/", import.meta.url));
/** The limits of the sent files, compressed, in bytes. */
const FIRST_VIEW = 75_000;
/** The console, and the maps in the pages of the OGC API, which share OpenLayers with it. */
const EVERYTHING = 285_000;
/** A reader gets the texts of one language only. */
const OTHER_LANGUAGES = /^(?:de|fr|es)-/;

test("all that a reader can get of the console is small", () => {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith(".gz"));
  // All texts, and the texts of the settings.
  expect(files.filter((name) => OTHER_LANGUAGES.test(name))).toHaveLength(6);
  const sizes = files.filter((name) => !OTHER_LANGUAGES.test(name)).map((name) => statSync(FOLDER + name).size);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(EVERYTHING);
});

describe.skipIf(!hasChromium)("in Chromium (Debian package chromium-headless-shell)", () => {
  test("the first view, the list of jobs and a job without a map need few bytes", async () => {
    const server = await startServer();
    onTestFinished(() => server.close());
    const browser = await consoleBrowser();
    await ended(server, await seed(server, "topp:states", { type: "truncate" }));
    // OpenLayers alone has more bytes.
    for (const path of ["/", "/ui/jobs", "/ui/jobs/1"]) {
      await using console = await browser.page(server);
      const sent: { readonly path: string; readonly bytes: number }[] = [];
      console.page.on("response", (response) => {
        const { pathname } = new URL(response.url());
        if (pathname.startsWith("/assets/"))
          sent.push({ path: pathname, bytes: Number(response.headers()["content-length"]) });
      });
      await console.open(path);
      await console.settled();
      expect(sent.length).toBeGreaterThan(2);
      expect(
        sent.reduce((sum, { bytes }) => sum + bytes, 0),
        `${path} ${JSON.stringify(sent)}`,
      ).toBeLessThan(FIRST_VIEW);
    }
  });
});
