import { LAYER_ROOTS } from "../../fields/gwc-elements.ts";
import {
  type DocumentNode,
  fieldOf,
  list,
  type MapNode,
  map,
  type NamedNode,
  type RootedDocument,
} from "../document-node.ts";
import { type DocumentReader, withoutSecrets } from "../secrets.ts";

const rule = (seconds: number): DocumentNode => ({
  kind: "list",
  items: [["expirationRule", map([], { minZoom: "0", expiration: String(seconds) })]],
});

/** The values that GeoWebCache shows of a layer that does not set them. */
const SHOWN: Readonly<Record<string, DocumentNode>> = {
  enabled: true,
  gridSubsets: list("gridSubset", []),
  backendTimeout: 120,
  cacheBypassAllowed: false,
};
/** The shown values by root element. */
const SHOWN_OF_ROOT = {
  wmsLayer: { metaWidthHeight: list("int", [3, 3]), gutter: 0, concurrency: 32 },
  mbtilesLayer: { metaWidthHeight: list("int", [3, 3]) },
  arcgisLayer: { hexZoom: false },
} as const satisfies Readonly<Record<string, Readonly<Record<string, DocumentNode>>>>;
/** The lists of rules that GeoWebCache shows, each with its seconds and the field that the list replaces. */
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
  const kind = root === "wmsLayer" || root === "arcgisLayer" ? root : "mbtilesLayer";
  const defaults: Readonly<Record<string, DocumentNode>> = {
    ...SHOWN,
    ...SHOWN_OF_ROOT[kind],
    ...(kind === "arcgisLayer" && storageFormat !== undefined ? { storageFormat } : {}),
    ...rulesOf(node),
    ...defaultsOf(settings),
  };
  const order = Object.keys(LAYER_ROOTS[kind]);
  const known = order.flatMap((name): NamedNode[] => {
    const value = fieldOf(node, name) ?? defaults[name];
    return value === undefined ? [] : [[name, shown(name, value)]];
  });
  const others = node.fields.filter(([name]) => !order.includes(name));
  return { root, node: { ...node, fields: [...known, ...others] } };
}

/** Returns the values of settings that apply to layers without their own value. */
function defaultsOf(settings: MapNode | undefined): Readonly<Record<string, DocumentNode>> {
  if (settings === undefined) return {};
  const given = ["backendTimeout", "cacheBypassAllowed", "formatModifiers"].map(
    (name) => [name, fieldOf(settings, name)] as const,
  );
  return Object.fromEntries(given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

function rulesOf(node: MapNode): Readonly<Record<string, DocumentNode>> {
  return Object.fromEntries(
    RULES.map(([name, field, standard]) => {
      const seconds = fieldOf(node, field);
      return [name, rule(typeof seconds === "number" ? seconds : standard)];
    }),
  );
}

function shown(name: string, value: DocumentNode): DocumentNode {
  if (name !== "wmsUrl" || typeof value !== "object" || value.kind !== "list") return value;
  return list(
    "string",
    value.items.map(([, url]) => withQuestionMark(String(url))),
  );
}

/** Returns a layer with its addresses in the form that GeoWebCache shows. */
export const withShownAddresses = ({ root, node }: RootedDocument): RootedDocument => ({
  root,
  node: { ...node, fields: node.fields.map(([name, value]): NamedNode => [name, shown(name, value)]) },
});

const withQuestionMark = (url: string): string => (url.includes("?") ? url : `${url}?`);
