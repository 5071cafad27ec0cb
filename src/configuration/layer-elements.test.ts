import { expect, test } from "vitest";
import { layerConfiguration } from "./layer-configuration.ts";
import { loadConfiguration } from "./load.ts";

async function load(layer: object, more: Readonly<Record<string, unknown>> = {}) {
  const flags = Object.fromEntries(
    Object.entries({ layers: [layer], ...more }).map(([k, v]) => [k, JSON.stringify(v)]),
  );
  return loadConfiguration({ env: {}, flags, cwd: "/" });
}
const wms = (more: object = {}, source: object = {}) => ({
  name: "a",
  source: { type: "wms", url: "http://u/", ...source },
  ...more,
});
async function problems(layer: object): Promise<readonly string[]> {
  const loaded = await load(layer);
  return loaded.ok ? [] : loaded.error.map(({ message }) => message);
}

const EVERYTHING = wms(
  {
    enabled: false,
    advertised: false,
    keywords: ["x"],
    metadataUrls: [{ type: "FGDC", format: "text/xml", url: "https://m/" }],
    formats: ["image/png", "image/jpeg"],
    formatModifiers: [
      { format: "image/jpeg", requestFormat: "image/png; mode=8bit", bgColor: "#ffffff", jpegQuality: 70 },
    ],
    gridSubsets: [{ gridSet: "EPSG:900913", minCachedLevel: 2, maxCachedLevel: 5 }],
    infoFormats: ["text/html"],
    expireCacheSeconds: -1,
  },
  { queryLayers: ["q"], bgColor: "0xAABBCC", palette: "safe", method: "post" },
);

test("elements of GeoWebCache's layers are keys of a layer", async () => {
  const loaded = await load(EVERYTHING);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
  const [layer] = loaded.value.layers;
  expect(layer).toMatchObject({
    enabled: false,
    advertised: false,
    keywords: ["x"],
    formatModifiers: [
      { format: "image/jpeg", requestFormat: "image/png; mode=8bit", bgColor: "0xffffff", jpegQuality: 70 },
    ],
    infoFormats: ["text/html"],
    expireCacheSeconds: [{ minZoom: 0, value: -1 }],
    source: { queryLayers: ["q"], bgColor: "0xAABBCC", palette: "safe", method: "post" },
  });
  expect(layer?.gridSubsets[0]).toMatchObject({ minCachedLevel: 2, maxCachedLevel: 5 });
});

test("what is shown of a layer can be loaded again, and is the same layer", async () => {
  const first = await load(EVERYTHING);
  const [layer] = first.ok ? first.value.layers : [];
  if (layer === undefined) throw new Error("not loaded");
  const second = await load(JSON.parse(JSON.stringify(layerConfiguration(layer))));
  const [again] = second.ok ? second.value.layers : [];
  expect(again?.digest).toBe(layer.digest);
});

test.each([
  [wms({ enabled: "maybe" }), 'layers[0].enabled: expected true or false, got "maybe"'],
  [wms({}, { bgColor: "red" }), 'layers[0].source.bgColor: expected a colour such as 0xFFFFFF, got "red"'],
  [wms({}, { method: "put" }), 'layers[0].source.method: expected one of get, post, got "put"'],
  [wms({ expireCacheSeconds: -3 }), "layers[0].expireCacheSeconds: expected a whole number from -1 to"],
  [
    wms({ gridSubsets: [{ gridSet: "EPSG:4326", minCachedLevel: 5, maxCachedLevel: 4 }] }),
    "layers[0].gridSubsets[0].minCachedLevel: expected at most maxCachedLevel (4), got 5",
  ],
  [
    wms({ formatModifiers: [{ format: "image/bmp" }] }),
    'layers[0].formatModifiers[0].format: expected a format of the layer, got "image/bmp"',
  ],
  [
    wms({ formatModifiers: [{ format: "image/png" }, { format: "image/png" }] }),
    "layers[0].formatModifiers[1].format: two modifiers are for image/png",
  ],
  [
    { name: "a", source: { type: "demo", dataset: "world" }, formatModifiers: [{ format: "image/png", palette: "p" }] },
    "layers[0].formatModifiers[0]: only jpegQuality has an effect if the source is not of type wms",
  ],
  [
    wms({ formatModifiers: [{ format: "image/jpeg", jpegQuality: 101 }] }),
    "layers[0].formatModifiers[0].jpegQuality: expected a whole number from 1 to 100, got 101",
  ],
  [
    wms({ metadataUrls: [{ type: "t", format: "xml", url: "http://m/" }] }),
    'layers[0].metadataUrls[0].format: expected a MIME type, got "xml"',
  ],
  [
    wms({ metadataUrls: [{ type: "t", format: "text/xml", url: "ftp://m/" }] }),
    'layers[0].metadataUrls[0].url: expected an address with http:// or https://, got "ftp://m/"',
  ],
  [wms({ infoFormats: [] }), "layers[0].infoFormats: expected at least one item"],
])("%o is refused", async (layer, message) => {
  expect((await problems(layer)).join("\n")).toContain(message);
});

test("the description of the server and CITE are keys at the top", async () => {
  const serviceInformation = { title: "T", serviceProvider: { serviceContact: { addressCity: "C" } } };
  const loaded = await load(wms(), { serviceInformation, compat: { wmtsCiteCompliant: true } });
  expect(loaded).toMatchObject({ ok: true, value: { serviceInformation, compat: { wmtsCiteCompliant: true } } });
  const wrong = await load(wms(), { serviceInformation: { serviceProvider: { name: "x" } } });
  expect(wrong.ok ? "" : wrong.error[0]?.message).toContain("serviceInformation.serviceProvider.name: unknown key");
});
