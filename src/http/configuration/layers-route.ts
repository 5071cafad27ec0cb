import { objectOf } from "../../gwc/configured-object.ts";
import type { NamedNode, RootedDocument } from "../../gwc/document-node.ts";
import { LAYER_ROOTS } from "../../gwc/field-types.ts";
import { elementPath, layerContent, layerFault } from "../../gwc/layer-content.ts";
import { layerDocument } from "../../gwc/layer-document.ts";
import { ownContent } from "../../gwc/own-document.ts";
import { shownLayer } from "../../gwc/shown-layer.ts";
import { isMap } from "../../lib/is-map.ts";
import { conflict, type Refusal } from "../../lib/refusal.ts";
import { refuse } from "../../lib/result.ts";
import { type Answer, textAnswer } from "../reply.ts";
import type { Exchange, Reply, Route, RouteOptions } from "../resource.ts";
import { configuredRoute, notFound, putObject, type ReadOnly } from "./configured-route.ts";
import type { DocumentForm } from "./document-form.ts";

type LayerParts = Pick<RouteOptions, "configured" | "changeObject" | "layerOrigin" | "operations">;

const LAYERS = {
  kind: "layer",
  what: "a layer",
  roots: LAYER_ROOTS,
  // GeoWebCache's sentence, with its two blanks.
  mismatch: "There is a mismatch between the name of the  layer in the submission and the URL you specified.",
  elementPath,
  contentOf: layerContent,
  faultOf: layerFault,
} as const;

/** `/rest/layers` and `/rest/layers/NAME`. */
export function layersRoute(parts: LayerParts): Route {
  const { configured } = parts;
  const namesOf = ({ catalogue }: Exchange): readonly string[] => {
    const made = configured().objects.flatMap(({ kind, name }) => (kind === "layer" ? [name] : []));
    const isMade = new Set(made);
    return [...[...catalogue.layers.keys()].filter((name) => !isMade.has(name)), ...made];
  };
  return configuredRoute({
    segment: "layers",
    elements: ["layers", "layer"],
    standard: "json",
    names: namesOf,
    find: ({ catalogue }, name): RootedDocument | undefined => {
      const made = objectOf(configured().objects, "layer", name);
      if (made !== undefined && ownContent(made.document) === undefined) return shownLayer(made.document);
      const layer = catalogue.layers.get(name);
      return layer === undefined ? undefined : layerDocument(layer);
    },
    unknown: (name) => `Unknown layer: ${name}`,
    changes: {
      PUT: (exchange, name, form) => putLayer(parts, exchange, name, form),
      POST: (exchange, name, form) => postLayer(parts, exchange, name, form),
      DELETE: (exchange, name) => deleteLayer(parts, exchange, name),
    },
  });
}

/** Returns the layer if it cannot be changed here. */
function readOnly(parts: LayerParts, { catalogue }: Exchange, name: string): ReadOnly | undefined {
  const layer = catalogue.layers.get(name);
  const refusal = layer === undefined ? undefined : fixedLayer(parts, name);
  return layer === undefined || refusal === undefined ? undefined : { document: layerDocument(layer), refusal };
}

/** Returns why a layer cannot be changed over HTTP; undefined: it can. */
export function fixedLayer(
  { configured, layerOrigin }: Pick<RouteOptions, "configured" | "layerOrigin">,
  name: string,
): Refusal | undefined {
  if (objectOf(configured().objects, "layer", name) !== undefined) return undefined;
  const origin = layerOrigin(name);
  const place = origin?.line === undefined ? origin?.file : `${origin.file}, line ${origin.line}`;
  return place === undefined
    ? conflict(`The layer ${name} is one of the demo, which a configuration file replaces.`)
    : conflict(`The layer ${name} stands in ${place}, and is changed there.`);
}

/** Returns the document of a layer that was made under `/api/v1`, with its password; undefined for other layers. */
function ownLayer({ configured }: LayerParts, { catalogue }: Exchange, name: string): RootedDocument | undefined {
  const made = objectOf(configured().objects, "layer", name);
  const content = made && ownContent(made.document);
  const layer = catalogue.layers.get(name);
  if (content === undefined || layer === undefined) return undefined;
  const { root, node } = layerDocument(layer);
  const { source } = content;
  const password = isMap(source) ? source["password"] : undefined;
  const fields = node.fields.map(
    ([key, value]): NamedNode =>
      key === "httpPassword" && typeof password === "string" ? [key, password] : [key, value],
  );
  return { root, node: { ...node, fields } };
}

async function putLayer(
  parts: LayerParts,
  exchange: Exchange,
  name: string,
  form: DocumentForm | undefined,
): Promise<Reply> {
  const shown = ownLayer(parts, exchange, name);
  const put = await putObject(parts, LAYERS, exchange, name, readOnly(parts, exchange, name), shown);
  if (!put.ok) return put;
  // Stored tiles stay, although a change of the source or of a style may have made them outdated.
  if (exchange.query.get("truncate") === "true" && !put.value.isNew)
    await parts.operations.truncate({ type: "truncateLayer", layer: name, mode: "hard" }, exchange.by);
  return saved(form);
}

/** Returns GeoWebCache's answer: plain text, with the type of the address. */
function saved(form: DocumentForm | undefined): Answer {
  const type = form === undefined ? "text/plain" : `application/${form}`;
  return { status: 200, type, body: "layer saved" };
}

/** The deprecated way to change a layer. */
async function postLayer(
  parts: LayerParts,
  exchange: Exchange,
  name: string,
  form: DocumentForm | undefined,
): Promise<Reply> {
  const isKnown =
    exchange.catalogue.layers.has(name) || objectOf(parts.configured().objects, "layer", name) !== undefined;
  if (!isKnown)
    return refuse({
      code: "unknown_layer",
      message: `Layer ${name} is not known by the configuration.Maybe it was loaded from another source, or you're trying to add a new layer and need to do an HTTP PUT ?`,
    });
  const answer = await putLayer(parts, exchange, name, form);
  if ("ok" in answer) return answer;
  return { ...answer, body: "", headers: { Warning: '299 - "Deprecated API. Use PUT instead."' } };
}

/** Removes a layer, which ends its jobs, then its tiles. */
async function deleteLayer(parts: LayerParts, exchange: Exchange, name: string): Promise<Reply> {
  const fixed = readOnly(parts, exchange, name);
  if (fixed !== undefined) return refuse(fixed.refusal);
  if (objectOf(parts.configured().objects, "layer", name) === undefined)
    return refuse(notFound(`Unknown layer: ${name}`));
  const changed = await parts.changeObject({ kind: "layer", name, document: undefined });
  if (!changed.ok) return changed;
  await parts.operations.truncate({ type: "truncateLayer", layer: name, mode: "hard" }, exchange.by);
  return textAnswer(200, `${name} deleted`);
}
