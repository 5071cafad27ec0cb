import { execFile } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium, launchChromium } from "../clients/chromium.ts";
import { hasMapServer, type MapServer, startMapServer } from "../clients/mapserver.ts";
import { pixels } from "../clients/pixels.ts";
import { startServer, type TestServer } from "../support/server/server.ts";
import { type ConsoleBrowser, consoleBrowser, LOOKS } from "./console-page.ts";

const hasQgis = existsSync("/usr/lib/python3/dist-packages/qgis");
const hasGdal = existsSync("/usr/bin/gdal_translate");
const DAYS = ["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04"];

// Without Debian's Chromium and MapServer: a loud skip.
describe.skipIf(!hasChromium || !hasMapServer)(
  "a layer's preview (Debian packages chromium-headless-shell, cgi-mapserver)",
  () => {
    let upstream: MapServer;
    let server: TestServer;
    let browser: ConsoleBrowser;
    let plain: Browser;
    beforeAll(async () => {
      upstream = await startMapServer();
      const source = `{ type: wms, url: "${upstream.url}", layers: [roads], transparent: false, connections: 4 }`;
      server = await startServer({
        configuration: `
layers:
  - name: ws:roads
    title: Roads </script> & more
    source: ${source}
    gridSubsets: [{ gridSet: EPSG:900913, zoomStop: 6 }, { gridSet: EPSG:4326, zoomStop: 6 }, { gridSet: odd }, { gridSet: upwards }]
    formats: [image/png, image/jpeg]
    queryable: true
    parameterFilters: [{ type: string, key: TIME, default: ${DAYS[3]}, values: ${JSON.stringify(DAYS)} }]
  - { name: two words, source: ${source}, formats: [image/png] }
gridSets:
  - { id: odd, srs: EPSG:4326, extent: [-180, -75, 180, 85], resolutions: [0.7, 0.25, 0.125], tileSize: [300, 200] }
  - { id: upwards, srs: EPSG:4326, extent: [-180, -75, 180, 85], resolutions: [0.7, 0.25, 0.125], tileSize: [300, 200], alignTopLeft: true }
`,
      });
      browser = await consoleBrowser();
      plain = await launchChromium({ webGl: true });
    });
    afterAll(async () => {
      await plain.close();
      await server.close();
      await upstream.close();
    });

    test.each(LOOKS)("the map with its controls is accessible, $look", async (look) => {
      await using console = await browser.page(server, look);
      await console.open("/ui/layers/ws%3Aroads");
      await console.page.locator(".map-target[aria-busy=false]").waitFor();
      await console.expectAccessible();
    });

    test("the slider of times asks for the tiles of the chosen time, which stands in the address", async () => {
      await using console = await browser.page(server);
      await console.open("/ui/layers/ws%3Aroads");
      const { page } = console;
      await page.locator(".map-target[aria-busy=false]").waitFor();
      const slider = page.getByRole("slider", { name: "TIME" });
      const asked = page.waitForResponse((response) => response.url().includes("TIME=2026-01-03"));
      await slider.focus();
      await page.keyboard.press("ArrowLeft");
      expect((await asked).status()).toBe(200);
      expect(await slider.getAttribute("aria-valuetext")).toBe("2026-01-03");
      expect(new URL(page.url()).searchParams.get("p.TIME")).toBe("2026-01-03");
    });

    test("a click asks the source what lies there", async () => {
      await using console = await browser.page(server);
      await console.open("/ui/layers/ws%3Aroads?gridSet=EPSG:4326");
      const { page } = console;
      await page.locator(".map-target[aria-busy=false]").waitFor();
      const asked = page.waitForRequest((request) => request.url().includes("GetFeatureInfo"));
      await page.locator(".map-target").click({ position: { x: 200, y: 250 } });
      expect(new URL((await asked).url()).searchParams.get("TILEMATRIXSET")).toBe("EPSG:4326");
      await page.locator("pre.snippet").filter({ hasText: /\S/ }).waitFor();
    });

    /** Returns the snippet that the console shows. */
    async function snippetOf(program: string, gridSet: string, layer = "ws:roads"): Promise<string> {
      await using console = await browser.page(server);
      await console.open(`/ui/layers/${encodeURIComponent(layer)}/addresses?program=${program}&gridSet=${gridSet}`);
      return (await console.page.locator("pre.snippet").textContent()) ?? "";
    }

    test.each([
      ["OpenLayers", "EPSG:900913"],
      ["OpenLayers", "EPSG:4326"],
      ["OpenLayers", "odd"],
      ["OpenLayers", "upwards"],
      ["Leaflet", "EPSG:900913"],
      ["Leaflet", "EPSG:4326"],
      ["Leaflet", "odd"],
      ["Leaflet", "upwards"],
      ["MapLibre", "EPSG:900913"],
    ])("the snippet for %s shows the map in %s as it stands", async (program, gridSet) => {
      const html = await snippetOf(program, gridSet);
      const page = await plain.newPage({ viewport: { width: 600, height: 400 } });
      const faults: string[] = [];
      page.on("pageerror", (error) => faults.push(String(error)));
      // As the reader does it: saved as a file, and opened.
      const file = join(server.dataDir, "snippet.html");
      writeFileSync(file, html);
      // The libraries come from npm: the test machine has no other network.
      await page.route("https://cdn.jsdelivr.net/npm/**", (route) =>
        route.fulfill({
          body: readFileSync(packageFile(new URL(route.request().url()).pathname)),
          contentType: route.request().url().endsWith("css") ? "text/css" : "text/javascript",
          headers: { "Access-Control-Allow-Origin": "*" },
        }),
      );
      page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
      await page.goto(pathToFileURL(file).href);
      await expect.poll(async () => landShare(await pixels(await page.screenshot()))).toBeGreaterThan(0.05);
      expect(faults).toEqual([]);
      await page.close();
    });

    test.skipIf(!hasGdal)("the snippet for GDAL writes a picture as it stands", async () => {
      const command = await snippetOf("GDAL", "EPSG:4326");
      // Not synchronously: the upstream answers in this process.
      await promisify(execFile)("/bin/sh", ["-c", command], { cwd: server.dataDir });
      const file = join(server.dataDir, "map.png");
      expect(landShare(await pixels(readFileSync(file)))).toBeGreaterThan(0.05);
      rmSync(file);
    });

    test("the snippet for QGIS has a blank in the form that QGIS reads", async () => {
      expect(await snippetOf("QGIS", "EPSG:4326", "two words")).toContain("layers=two%20words&");
    });

    test.skipIf(!hasQgis)("the snippet for QGIS shows the map as it stands (Debian package python3-qgis)", async () => {
      const snippets = await Promise.all(
        ["EPSG:900913", "EPSG:4326", "odd", "upwards"].map((gridSet) => snippetOf("QGIS", gridSet)),
      );
      snippets.push(await snippetOf("QGIS", "EPSG:900913", "two words"));
      const [program, files] = [join(server.dataDir, "draw-map.py"), snippets.map((_, i) => `qgis-${i}.png`)];
      writeFileSync(program, qgisProgram(snippets, files));
      const env = { ...process.env, QT_QPA_PLATFORM: "offscreen", XDG_RUNTIME_DIR: server.dataDir };
      await promisify(execFile)("/usr/bin/python3", [program], { cwd: server.dataDir, env });
      for (const file of files) {
        expect(landShare(await pixels(readFileSync(join(server.dataDir, file)))), file).toBeGreaterThan(0.05);
        rmSync(join(server.dataDir, file));
      }
    });

    test("a program that cannot show a grid set says so", async () => {
      await using console = await browser.page(server);
      await console.open("/ui/layers/ws%3Aroads/addresses?program=MapLibre&gridSet=odd");
      await console.page.getByText("MapLibre cannot show image/png in the grid set odd.").waitFor();
    });
  },
);

/** Returns a program that runs snippets as QGIS's own console does, and draws the layer that each adds to a file. */
const qgisProgram = (snippets: readonly string[], files: readonly string[]): string => `
import json
from qgis.core import *
from qgis.PyQt.QtCore import QSize
application = QgsApplication([], False)
application.initQgis()
class Interface:
    def addRasterLayer(self, source, title, provider):
        self.layer = QgsRasterLayer(source, title, provider)
for snippet, file in json.loads(${JSON.stringify(JSON.stringify(snippets.map((text, i) => [text, files[i]])))}):
    iface = Interface()
    exec(snippet)
    if not iface.layer.isValid():
        raise Exception(iface.layer.error().summary())
    settings = QgsMapSettings()
    settings.setLayers([iface.layer])
    settings.setDestinationCrs(iface.layer.crs())
    settings.setOutputSize(QSize(600, 400))
    settings.setExtent(iface.layer.extent())
    job = QgsMapRendererSequentialJob(settings)
    job.start()
    job.waitForFinished()
    job.renderedImage().save(file)
application.exitQgis()
`;

/** Returns the file of a path such as /npm/ol@10.11.0/dist/ol.js. */
const packageFile = (path: string): string => {
  const [, name = "", file = ""] = /^\/npm\/([^@/]+)@[^/]+\/(.*)$/.exec(path) ?? [];
  return join(createRequire(import.meta.url).resolve(`${name}/package.json`), "..", file);
};

/** The share of pixels in the colour of MapServer's land. */
function landShare(rgb: Buffer): number {
  let land = 0;
  for (let at = 0; at + 2 < rgb.length; at += 3)
    if (rgb[at] === 190 && rgb[at + 1] === 120 && rgb[at + 2] === 60) land++;
  return land / (rgb.length / 3);
}
