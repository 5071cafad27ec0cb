import { expect, onTestFinished } from "vitest";
import { hasChromium, startChromium } from "../clients/chromium.ts";
import { hasMapServer, startMapServer } from "../clients/mapserver.ts";
import { colours, difference, pixels, rendered } from "../clients/pixels.ts";
import { startServer } from "../support/server/server.ts";
import { fromNpm, neighbour, ofDebian } from "./installed.ts";

const cesium = fromNpm("cesium@1.145.0");
const chromium = ofDebian(hasChromium ? "/usr/bin" : "", "chromium-headless-shell");
const mapServer = ofDebian(hasMapServer ? "/usr/lib/cgi-bin" : "", "cgi-mapserver");

neighbour("Cesium shows tiles of EPSG:4326 on its flat map", [cesium, chromium, mapServer], async () => {
  const upstream = await startMapServer();
  const source = `{ type: wms, url: "${upstream.url}", layers: [roads], transparent: false, connections: 2 }`;
  const server = await startServer({
    configuration: `layers: [{ name: roads, source: ${source}, gridSubsets: [{ gridSet: EPSG:4326, zoomStop: 5 }] }]\n`,
  });
  const browser = await startChromium(`${cesium.directory}/node_modules/cesium/Build/Cesium`);
  onTestFinished(async () => {
    await browser[Symbol.asyncDispose]();
    await server.close();
    await upstream.close();
  });
  const size = { width: 512, height: 256 };
  const picture = await browser.show({
    head: '<link rel="stylesheet" href="/files/Widgets/CesiumWidget/CesiumWidget.css"><script>window.CESIUM_BASE_URL = "/files/"</script><script src="/files/Cesium.js"></script>',
    script: `
const imagery = new Cesium.UrlTemplateImageryProvider({
  url: ${JSON.stringify(`${server.url}/xyz/roads/EPSG:4326/{z}/{x}/{y}.png`)},
  tilingScheme: new Cesium.GeographicTilingScheme(),
  maximumLevel: 5,
});
const widget = new Cesium.CesiumWidget("map", {
  baseLayer: new Cesium.ImageryLayer(imagery),
  sceneMode: Cesium.SceneMode.SCENE2D,
  mapProjection: new Cesium.GeographicProjection(),
  skyBox: false,
  creditContainer: document.createElement("div"),
});
widget.camera.setView({ destination: Cesium.Rectangle.fromDegrees(-180, -90, 180, 90) });
let quiet = 0;
await new Promise((resolve) => {
  const remove = widget.scene.postRender.addEventListener(() => {
    quiet = widget.scene.globe.tilesLoaded ? quiet + 1 : 0;
    if (quiet > 20) resolve(remove());
  });
});
`,
    ...size,
  });
  const shown = await pixels(picture);
  const direct = await rendered(upstream.url, { srs: "EPSG:4326", box: [-180, -90, 180, 90], ...size });
  expect(colours(shown)).toBeGreaterThan(2);
  // Cesium draws through WebGL, which smooths the edges.
  expect(difference(shown, direct, 24)).toBeLessThan(0.05);
});
