import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";

// Without a browser's own windows and pages it takes half the time of the processor.
const PROGRAM = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find((path) => existsSync(path));
export const hasChromium = PROGRAM !== undefined;

/** The map libraries in their npm packages, by the paths with which pages request them. */
const FILES: ReadonlyMap<string, string> = new Map([
  ["/ol.js", "ol/dist/ol.js"],
  ["/leaflet.js", "leaflet/dist/leaflet.js"],
  ["/leaflet.css", "leaflet/dist/leaflet.css"],
  ["/maplibre-gl.mjs", "maplibre-gl/dist/maplibre-gl.mjs"],
  ["/maplibre-gl-worker.mjs", "maplibre-gl/dist/maplibre-gl-worker.mjs"],
  ["/maplibre-gl.css", "maplibre-gl/dist/maplibre-gl.css"],
]);
const TYPES: ReadonlyMap<string, string> = new Map([
  [".css", "text/css"],
  [".json", "application/json"],
  [".wasm", "application/wasm"],
  [".js", "text/javascript"],
  [".mjs", "text/javascript"],
]);

/** A map on a separate page, as a browser shows it. */
export interface MapPage {
  /** HTML, in head and body: libraries and their styles. */
  readonly head: string;
  /** JavaScript of a module, that fills `#map` and awaits until all of it is shown. */
  readonly script: string;
  readonly width: number;
  readonly height: number;
}

export interface Chromium extends AsyncDisposable {
  /** Returns the browser's window as PNG. @throws Error with the page's error messages */
  show(page: MapPage): Promise<Buffer>;
}

/** Loads a page and inspects it. @throws Error with the page's error messages, if there are any */
async function withPage(
  browser: Browser,
  viewport: { readonly width: number; readonly height: number },
  look: (page: Page) => Promise<Buffer>,
): Promise<Buffer> {
  const page = await browser.newPage({ viewport, deviceScaleFactor: 1 });
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("requestfailed", (request) => complaints.push(`${request.url()}: ${request.failure()?.errorText}`));
  try {
    const picture = await look(page);
    if (complaints.length > 0) throw new Error(complaints.join("\n"));
    return picture;
  } catch (error) {
    throw new Error(`the page showed no map:\n${complaints.join("\n")}`, { cause: error });
  } finally {
    await page.close();
  }
}

/** Draws WebGL, which MapLibre needs, on machines without a GPU. */
const WEB_GL = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"];
/** Draws pages without a GPU. */
const NO_WEB_GL = ["--disable-gpu"];

/** Starts Debian's Chromium without a window. It reaches nothing but this machine. */
export const launchChromium = ({ webGl }: { readonly webGl: boolean }): Promise<Browser> =>
  chromium.launch({
    executablePath: PROGRAM ?? "",
    args: [
      // CI runs as root.
      "--no-sandbox",
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
      "--force-color-profile=srgb",
      ...(webGl ? WEB_GL : NO_WEB_GL),
    ],
  });

/** Starts a browser and a server of pages with a map each. Pages find the files of `directory` below `/files/`. */
export async function startChromium(directory?: string): Promise<Chromium> {
  let html = "";
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://any").pathname;
    const file = FILES.get(path);
    const other = directory !== undefined && path.startsWith("/files/") ? join(directory, path.slice(7)) : undefined;
    if (other !== undefined && existsSync(other))
      response.writeHead(200, { "Content-Type": TYPES.get(extname(path)) ?? "text/plain" }).end(readFileSync(other));
    else if (path === "/") response.writeHead(200, { "Content-Type": "text/html; charset=utf-8" }).end(html);
    else if (file === undefined) response.writeHead(path === "/favicon.ico" ? 204 : 404).end();
    else {
      const whole = readFileSync(fileURLToPath(new URL(`../../node_modules/${file}`, import.meta.url)));
      response.writeHead(200, { "Content-Type": TYPES.get(extname(path)) ?? "text/plain" }).end(whole);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  // Another origin than the tiles': CORS counts.
  const origin = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  let browser: Browser;
  try {
    browser = await launchChromium({ webGl: true });
  } catch (error) {
    server.close();
    throw error;
  }
  return {
    async show({ head, script, width, height }) {
      html = `<!doctype html><meta charset="utf-8">${head}
<style>body { margin: 0 } #map { width: ${width}px; height: ${height}px }</style><div id="map"></div>
<script type="module">
try {
${script}
document.title = "shown";
} catch (error) {
  console.error(String(error && error.stack || error));
  document.title = "failed";
}
</script>`;
      return withPage(browser, { width, height }, async (page) => {
        await page.goto(origin);
        await page.waitForFunction('document.title !== ""', undefined, { timeout: 120_000 });
        return page.screenshot();
      });
    },
    async [Symbol.asyncDispose]() {
      await browser.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
