import { documentOf, settingsOf } from "../../configuration/gwc/configured-object.ts";
import { type RootedDocument, textOf } from "../../configuration/gwc/document-node.ts";
import { layerFault } from "../../configuration/gwc/layer-fault.ts";
import {
  completeLayer,
  gwcLayerDocument,
  layerContent,
  type ShownFrom,
  shownLayer,
  withShownAddresses,
} from "../../configuration/gwc/layer-object.ts";
import { layerOrigin } from "../../configuration/gwc/object-origin.ts";
import { ownContent } from "../../configuration/gwc/own-document.ts";
import { withoutSecrets } from "../../configuration/gwc/secrets.ts";
import { isUsable } from "../../configuration/gwc/store-object.ts";
import type { Layer } from "../../layer/layer.ts";
import { asLayerName } from "../../layer/tile-set.ts";
import { conflict, type Refusal } from "../../lib/refusal.ts";
import { refuse } from "../../lib/result.ts";
import type { Exchange, Route, RouteOptions } from "../resource.ts";
import {
  type Change,
  configuredRoute,
  deleteObject,
  type Present,
  presentObject,
  putObject,
  readerOf,
  withBlanks,
} from "./configured-route.ts";
import { textOfForm } from "./document-form.ts";

type LayerParts = Pick<RouteOptions, "configured" | "changeObject" | "operations">;

const LAYERS = {
  kind: "layer",
  what: "a layer",
  // GeoWebCache's message, with its two blanks.
  mismatch: "There is a mismatch between the name of the  layer in the submission and the URL you specified.",
  // GET shows an address with its question mark, even if the file has none.
  contentOf: (document: RootedDocument) =>
    layerContent(ownContent(document) === undefined ? withShownAddresses(document) : document),
} as const;

/**
 * Returns why a layer is refused. Also refuses a store that is not enabled, where GeoWebCache accepts the layer but
 * serves no tile.
 */
function faultOf({ configured }: LayerParts, document: RootedDocument): string | undefined {
  const id = textOf(document.node, "blobStoreId");
  const store = id === undefined ? undefined : documentOf(configured().objects, "store", id);
  return store === undefined || isUsable(store)
    ? layerFault(document)
    : `blobStoreId: expected a store that is enabled, got ${JSON.stringify(id)}`;
}

/** Returns the values that complete the document of a layer. `layer` is the served layer. */
const shownFrom = ({ configured }: Pick<LayerParts, "configured">, layer: Layer | undefined): ShownFrom => ({
  settings: settingsOf(configured().objects),
  storageFormat: layer?.source.type === "arcgisCache" ? layer.source.storage : undefined,
});

/** `/rest/layers` and `/rest/layers/NAME`. */
export function layersRoute(parts: LayerParts): Route {
  const { configured } = parts;
  const namesOf = ({ catalogue }: Exchange): readonly string[] => {
    const made = configured().objects.flatMap(({ kind, name, document }) =>
      kind === "layer" && document !== undefined ? [name] : [],
    );
    const isMade = new Set(made);
    return [...[...catalogue.layers.keys()].filter((name) => !isMade.has(name)), ...made];
  };
  const find = ({ catalogue, caller }: Exchange, name: string): RootedDocument | undefined => {
    const { objects } = configured();
    const made = documentOf(objects, "layer", name);
    if (made !== undefined && ownContent(made) === undefined)
      return shownLayer(made, readerOf(caller), shownFrom(parts, catalogue.layers.get(name)));
    const layer = catalogue.layers.get(name);
    if (layer === undefined) return undefined;
    const { root, node } = withShownAddresses(gwcLayerDocument(layer));
    return { root, node: withoutSecrets(node, "reader") };
  };
  return configuredRoute(parts, {
    segment: "layers",
    elements: ["layers", "layer"],
    standard: "json",
    names: namesOf,
    find: (exchange, name) => find(exchange, name) ?? find(exchange, withBlanks(name)),
    unknown: (name) => `Unknown layer: ${name}`,
    changes: {
      PUT: putLayer,
      POST: postLayer,
      DELETE: deleteLayer,
    },
  });
}

/** Returns a layer in force. Undefined if it does not exist. */
function present(parts: LayerParts, { catalogue }: Exchange, name: string): Present | undefined {
  const made = presentObject(parts, "layer", name);
  const layer = catalogue.layers.get(name);
  if (layer === undefined || (made !== undefined && ownContent(made.document) === undefined)) return made;
  return { document: gwcLayerDocument(layer), isFixed: true, refusal: fixedLayer(parts, name) };
}

/** Returns why a layer cannot be changed over HTTP. Undefined if it can. */
export function fixedLayer({ configured }: Pick<RouteOptions, "configured">, name: string): Refusal | undefined {
  const configuration = configured();
  const { objects, isWritable } = configuration;
  if (isWritable || documentOf(objects, "layer", name) !== undefined) return undefined;
  const origin = layerOrigin(configuration, name);
  const place = origin?.line === undefined ? origin?.file : `${origin.file}, line ${origin.line}`;
  return place === undefined
    ? conflict(`The layer ${name} is a demo layer, and a configuration file replaces the demo layers.`)
    : conflict(`The layer ${name} is defined in ${place}, and is changed there.`);
}

const putLayer: Change<LayerParts> = async (parts, exchange, name, form) => {
  const put = await putObject(
    parts,
    {
      ...LAYERS,
      complete: (document) => completeLayer(document, shownFrom(parts, exchange.catalogue.layers.get(name))),
      faultOf: (document) => faultOf(parts, document),
    },
    exchange,
    name,
    present(parts, exchange, name),
  );
  if (!put.ok) return put;
  // Without this parameter stored tiles stay, although a change of the source or of a style may have made them
  // outdated.
  if (exchange.query.get("truncate") === "true" && !put.value.isNew)
    await parts.operations.truncate({ type: "truncateLayer", layer: asLayerName(name), mode: "hard" }, exchange.by);
  return { ...textOfForm("layer saved", form), detail: put.value.detail };
};

/** Changes a layer by the deprecated POST. The warning has GeoWebCache's form. */
const postLayer: Change<LayerParts> = async (parts, exchange, name, form) => {
  if (present(parts, exchange, name) === undefined)
    return refuse({
      code: "unknown_layer",
      message: `Layer ${name} is not known by the configuration.Maybe it was loaded from another source, or you're trying to add a new layer and need to do an HTTP PUT ?`,
    });
  const answer = await putLayer(parts, exchange, name, form);
  if ("ok" in answer) return answer;
  return { ...answer, body: "", headers: { Warning: "299: Deprecated API. Use PUT instead." } };
};

/** Removes a layer. This ends its jobs and truncates its tiles. */
const deleteLayer: Change<LayerParts> = async (parts, exchange, name, form) => {
  const found = present(parts, exchange, name);
  const removed = await deleteObject(parts, LAYERS, exchange, name, found, {
    unknown: `Unknown layer: ${name}`,
    users: [],
  });
  return removed.ok ? { ...textOfForm(`${name} deleted`, form), detail: `${name}: removed` } : removed;
};
