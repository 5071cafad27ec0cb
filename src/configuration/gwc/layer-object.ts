import type { Layer } from "../../layer/layer.ts";
import { type Content, isMap } from "../../lib/is-map.ts";
import { LAYERS, WMS_LAYER } from "../fields/elements/layer-elements.ts";
import { layerConfigurationWithSecrets } from "../layer-configuration.ts";
import {
  type DocumentNode,
  fieldOf,
  list,
  type MapNode,
  map,
  type NamedNode,
  type RootedDocument,
} from "./document-node.ts";
import { completed, contentOf, nodeOf } from "./element.ts";
import { ownContent } from "./own-document.ts";
import { type DocumentReader, withoutSecrets } from "./secrets.ts";

/** Layers as documents of GeoWebCache. `fields/layer-elements.ts` has the elements. */

type LayerRoot = keyof typeof LAYERS;

/** The type of the source of each kind of layer. */
const SOURCE_TYPES = { wmsLayer: "wms", mbtilesLayer: "mbtiles", arcgisLayer: "arcgisCache" } as const;

/** Returns whether a root element belongs to a kind of layer that Nuthatch has. */
export const isLayerRoot = (name: string): name is LayerRoot => Object.hasOwn(LAYERS, name);

/** Returns a layer in the form of the configuration file. The configuration checks the values. */
export function layerContent({ root, node, ...document }: RootedDocument): Content {
  const own = ownContent({ root, node, ...document });
  if (own !== undefined) return own;
  const kind = isLayerRoot(root) ? root : "wmsLayer";
  const content = contentOf(LAYERS[kind], node);
  const { source } = content;
  return { ...content, source: { type: SOURCE_TYPES[kind], ...(isMap(source) ? source : {}) } };
}

/**
 * Returns a layer as GeoWebCache's `wmsLayer`, `mbtilesLayer` or `arcgisLayer`, with its secrets. A source that
 * GeoWebCache lacks has no `wmsUrl`.
 */
export function gwcLayerDocument(layer: Layer): RootedDocument {
  const { source, ...keys } = layerConfigurationWithSecrets(layer);
  const gridSubsets = keys.gridSubsets?.map(({ zoomStop, ...subset }, i) => {
    // GeoWebCache shows no level that is the last of the grid set.
    const isLast = zoomStop === undefined || zoomStop + 1 === layer.gridSubsets[i]?.gridSet.matrices.length;
    return isLast ? subset : { ...subset, zoomStop };
  });
  const part = { ...keys, gridSubsets };
  if (source.type === "mbtiles")
    return { root: "mbtilesLayer", node: nodeOf(LAYERS.mbtilesLayer, { ...part, source }) };
  if (source.type === "arcgisCache" && layer.source.type === "arcgisCache") {
    const { storage: storageFormat } = layer.source;
    return {
      root: "arcgisLayer",
      node: nodeOf(LAYERS.arcgisLayer, { ...part, source, storageFormat }),
    };
  }
  if (source.type === "wms") return { root: "wmsLayer", node: nodeOf(WMS_LAYER, { ...part, source }) };
  const { connections } = source;
  const timeoutSeconds = "timeoutSeconds" in source ? source.timeoutSeconds : undefined;
  return {
    root: "wmsLayer",
    node: nodeOf(WMS_LAYER, { ...part, source: { url: [], connections, timeoutSeconds } }),
  };
}

/** The elements that a layer inherits from the settings, and the inherited elements that GeoWebCache shows. */
const inheritedElements = (which: readonly string[]): readonly string[] =>
  Object.entries(WMS_LAYER).flatMap(([name, { inherited }]) =>
    inherited !== undefined && which.includes(inherited) ? [name] : [],
  );
export const INHERITED = inheritedElements(["shown", "hidden"]);
const SHOWN_OF_SETTINGS = inheritedElements(["shown"]);

const rule = (seconds: number): DocumentNode => ({
  kind: "list",
  items: [["expirationRule", map([], { minZoom: "0", expiration: String(seconds) })]],
});

/** The lists of rules that GeoWebCache shows, each with the element that the list replaces and its default. */
const RULES = [
  ["expireCacheList", "expireCache", -2],
  ["expireClientsList", "expireClients", 7200],
] as const;

/** Values outside of a layer's document that its shown form contains. */
export interface ShownFrom {
  /** The settings of the server. */
  readonly settings?: MapNode | undefined;
  /** The storage format in the `conf.xml` of an ArcGIS cache. */
  readonly storageFormat?: string | undefined;
}

/**
 * Returns a layer as GeoWebCache shows it: with defaults, in GeoWebCache's order, with the secrets masked for the
 * reader.
 */
export function shownLayer(document: RootedDocument, reader: DocumentReader, from: ShownFrom = {}): RootedDocument {
  const { root, node } = completeLayer(document, from);
  return { root, node: withoutSecrets(node, reader) };
}

/**
 * Returns the layer's document with secrets and all defaults written out, so that two documents of one layer compare
 * equal.
 */
export function completeLayer(
  { root, node }: RootedDocument,
  { settings, storageFormat }: ShownFrom = {},
): RootedDocument {
  const elements = LAYERS[isLayerRoot(root) ? root : "mbtilesLayer"];
  const rules = RULES.map(([name, ofSeconds, standard]): NamedNode => {
    const seconds = fieldOf(node, ofSeconds);
    return [name, rule(typeof seconds === "number" ? seconds : standard)];
  });
  const inherited = SHOWN_OF_SETTINGS.flatMap((name): NamedNode[] => {
    const value = settings && fieldOf(settings, name);
    return value === undefined ? [] : [[name, value]];
  });
  const ofCache: readonly NamedNode[] = storageFormat === undefined ? [] : [["storageFormat", storageFormat]];
  const fields = completed(elements, node, Object.fromEntries([...rules, ...inherited, ...ofCache]));
  return withShownAddresses({ root, node: { ...node, fields } });
}

/** Returns a layer with its addresses in the form that GeoWebCache shows. */
export const withShownAddresses = ({ root, node }: RootedDocument): RootedDocument => ({
  root,
  node: {
    ...node,
    fields: node.fields.map(([name, value]): NamedNode => {
      if (name !== "wmsUrl" || typeof value !== "object" || value.kind !== "list") return [name, value];
      return [
        name,
        list(
          "string",
          value.items.map(([, url]) => withQuestionMark(String(url))),
        ),
      ];
    }),
  },
});

const withQuestionMark = (url: string): string => (url.includes("?") ? url : `${url}?`);
