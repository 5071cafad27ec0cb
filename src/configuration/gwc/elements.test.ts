import { expect, test } from "vitest";
import type { Configuration } from "../configuration.ts";
import { loadConfiguration } from "../load.ts";
import { fieldOf, isMapNode, itemsIn, type MapNode, type RootedDocument } from "./document-node.ts";
import { gridSetDocument } from "./grid-set-object.ts";
import { gwcLayerDocument } from "./layer-object.ts";
import { OBJECTS } from "./object-kinds.ts";
import { storeDocument } from "./store-object.ts";

/** Every key that GeoWebCache has an element for, with a value that is not its default. */
const CONTENT = {
  stores: [
    { id: "tms", type: "file", path: "/tiles", layout: "tms" },
    { id: "compact", type: "compact", path: "/bundles" },
    {
      id: "bucket",
      type: "s3",
      bucket: "b",
      prefix: "p",
      accessKeyId: "a",
      secretAccessKey: "s",
      endpoint: "http://127.0.0.1:9",
      pathStyle: true,
    },
  ],
  gridSets: [
    {
      id: "scales",
      title: "S",
      srs: 25832,
      extent: [0, 0, 1e6, 1e6],
      scaleDenominators: [1e6, 5e5],
      scaleNames: ["x", "y"],
      metersPerUnit: 1,
      pixelSize: 0.0003,
      tileSize: [512, 256],
      alignTopLeft: true,
      yCoordinateFirst: true,
    },
    { id: "steps", srs: 4326, extent: [-10, 0, 10, 10], resolutions: [1, 0.5] },
  ],
  layers: [
    {
      name: "all",
      enabled: false,
      advertised: false,
      title: "T",
      description: "D",
      keywords: ["k"],
      metadataUrls: [{ type: "FGDC", format: "text/xml", url: "https://m/" }],
      source: {
        type: "wms",
        url: ["http://127.0.0.1:8/", "http://127.0.0.1:9/"],
        version: "1.3.0",
        layers: ["x", "y"],
        styles: ["", "s"],
        transparent: false,
        queryLayers: ["q"],
        bgColor: "0xAABBCC",
        palette: "p",
        method: "post",
        timeoutSeconds: 7,
        connections: 3,
        vendorParameters: { A: "1" },
        username: "u",
        password: "p",
        proxy: "http://127.0.0.1:7",
      },
      store: "tms",
      gridSubsets: [
        {
          gridSet: "EPSG:900913",
          extent: [0, 0, 1e6, 1e6],
          zoomStart: 1,
          zoomStop: 9,
          minCachedLevel: 2,
          maxCachedLevel: 5,
        },
        { gridSet: "scales" },
      ],
      formats: ["image/jpeg", "image/png"],
      metatile: [2, 3],
      gutter: 5,
      parameterFilters: [
        { type: "string", key: "STYLES", default: "d", values: ["d", "e"] },
        { type: "string", key: "S", default: "X", values: ["X", "Y"], normalize: "UPPER" },
        { type: "regex", key: "R", default: "a", regex: "a*", normalize: "LOWER" },
        { type: "float", key: "F", default: "1", values: [1, 2.5], threshold: 0.5 },
        { type: "integer", key: "I", default: "", values: [1, 2], threshold: 3 },
      ],
      requestFilters: [
        { type: "circle", name: "c" },
        { type: "wms", name: "w", zoomStart: 1, zoomStop: 3, resample: true, layers: ["l"], styles: ["s"] },
        { type: "file", name: "f", zoomStop: 3, preload: true, debug: true, directory: "/d", extension: "png" },
      ],
      updateSources: [
        {
          type: "georss",
          url: "http://127.0.0.1:6/?since={lastUpdate}",
          gridSet: "EPSG:900913",
          pollSeconds: 60,
          operation: "seed",
          format: "image/png",
          threadCount: 2,
          username: "u",
          password: "p",
        },
      ],
      cacheBypassAllowed: true,
      resampling: "bicubic",
      legends: [
        { style: "d", width: 7, height: 8, format: "image/gif", url: "http://l/d" },
        { style: "e", url: "http://l/e", minScaleDenominator: 1, maxScaleDenominator: 5 },
      ],
      formatModifiers: [
        {
          format: "image/jpeg",
          requestFormat: "image/png",
          transparent: false,
          bgColor: "0x000000",
          palette: "p",
          jpegQuality: 70,
        },
      ],
      expireCacheSeconds: [
        { minZoom: 0, seconds: 0 },
        { minZoom: 4, seconds: -1 },
      ],
      expireClientSeconds: [
        { minZoom: 0, seconds: 60 },
        { minZoom: 3, seconds: 90 },
      ],
      queryable: true,
      infoFormats: ["text/html"],
    },
  ],
};

async function load(content: Readonly<Record<string, unknown>>): Promise<Configuration> {
  const flags = Object.entries(content).map(([key, value]) => [key, JSON.stringify(value)]);
  const loaded = await loadConfiguration({ env: {}, flags: Object.fromEntries(flags), cwd: "/" });
  if (!loaded.ok) throw new Error(loaded.error.map(({ message }) => message).join("\n"));
  return loaded.value;
}

/** The documents of the stores, grid sets and layers of a configuration. */
const documentsOf = ({ stores, gridSets, layers }: Configuration) => ({
  store: stores.map((store) => storeDocument(store, false)),
  gridSet: gridSets.map(gridSetDocument),
  layer: layers.map(gwcLayerDocument),
});

test("the documents of GeoWebCache describe the same stores, grid sets and layers", async () => {
  const documents = documentsOf(await load(CONTENT));
  const { store, gridSet, layer } = OBJECTS;
  const again = await load({
    stores: documents.store.map(store.contentOf),
    gridSets: documents.gridSet.map(gridSet.contentOf),
    layers: documents.layer.map(layer.contentOf),
  });
  expect(documentsOf(again)).toEqual(documents);
});

/** Returns the paths of all values of a content, with their indexes. */
function pathsOf(value: unknown, at = ""): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item: unknown, i) => pathsOf(item, `${at}[${i}]`));
  if (typeof value !== "object" || value === null) return [at];
  return Object.entries(value).flatMap(([key, inner]) => pathsOf(inner, at === "" ? key : `${at}.${key}`));
}

/** Returns whether a path leads to an element or an attribute of a document. */
function leadsTo({ node }: RootedDocument, path: string): boolean {
  const steps = path.split(/[.[\]]+/).filter((step) => step !== "");
  const last = steps.reduce<ReturnType<typeof fieldOf>>((at, step) => stepInto(at, step), node);
  return last !== undefined;
}
const stepInto = (at: ReturnType<typeof fieldOf>, step: string): ReturnType<typeof fieldOf> =>
  /^\d+$/.test(step) ? itemsIn(at)[Number(step)] : isMapNode(at) ? memberOf(at, step) : undefined;
const memberOf = (at: MapNode, name: string): ReturnType<typeof fieldOf> =>
  name.startsWith("@") ? at.attributes[name.slice(1)] : fieldOf(at, name);

test("the path of each value leads to its element in GeoWebCache's document", async () => {
  const documents = documentsOf(await load(CONTENT));
  for (const kind of ["store", "gridSet", "layer"] as const)
    for (const document of documents[kind])
      for (const path of pathsOf(OBJECTS[kind].contentOf(document))) {
        // The root, or the name of an item, says the type. Parameters and the sizes of legends share an element.
        if (/(?:^|\.)type$|^pathStyle$|vendorParameters|^legends\[1\]\.(?:width|height|format)$/.test(path)) continue;
        const element = OBJECTS[kind].pathOf(path);
        const found = leadsTo(document, element) || leadsTo(document, element.replace(/\[\d+\]$/, ""));
        expect(found ? path : element).toBe(path);
      }
});

test("the documents have every element that has a key", async () => {
  const documents = Object.values(documentsOf(await load(CONTENT))).flat();
  const missing = Object.entries(OBJECTS).flatMap(([kind, { tables }]) =>
    Object.entries(tables).flatMap(([root, elements]) => {
      const own = documents.filter((document) => document.root === root);
      return Object.entries(elements).flatMap(([name, { read, write }]) =>
        own.length === 0 ||
        read === undefined ||
        write === undefined ||
        own.some(({ node }) => fieldOf(node, name) !== undefined)
          ? []
          : [`${kind} ${root} ${name}`],
      );
    }),
  );
  // Seconds are written as rules, the connections of a store are not written, and levels as scales or steps.
  expect(missing).toEqual([
    "store S3BlobStore maxConnections",
    "gridSet gridSet levels",
    "layer wmsLayer expireCache",
    "layer wmsLayer expireClients",
  ]);
});
