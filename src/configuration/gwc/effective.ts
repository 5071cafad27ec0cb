import type { Content } from "../../lib/is-map.ts";
import { type DocumentNode, fieldOf, type MapNode, type NamedNode, type RootedDocument } from "./document-node.ts";
import { INHERITED, layerContent } from "./layer-object.ts";
import { type ListedKind, OBJECTS } from "./object-kinds.ts";
import { ownContent } from "./own-document.ts";

/** The elements of layers in which GeoWebCache replaces variables. In stores it replaces them in all elements. */
const WITH_VARIABLES = ["httpUsername", "httpPassword"];

/** Variables of the environment. Undefined if GeoWebCache replaces none (`ALLOW_ENV_PARAMETRIZATION`). */
export type ReplacedVariables = Readonly<Record<string, string | undefined>> | undefined;

/** Returns the variables that GeoWebCache would replace. Undefined if it would not replace variables. */
export const replacedVariables = (env: Readonly<Record<string, string | undefined>>): ReplacedVariables =>
  env["ALLOW_ENV_PARAMETRIZATION"] === "true" ? env : undefined;

/** Returns a layer with inherited values of the settings, and with its variables replaced. */
function effectiveLayer(
  { root, node }: RootedDocument,
  settings: MapNode | undefined,
  variables: ReplacedVariables,
): RootedDocument {
  const inherited = INHERITED.flatMap((name): NamedNode[] => {
    const value = settings && fieldOf(settings, name);
    return value === undefined || fieldOf(node, name) !== undefined ? [] : [[name, value]];
  });
  // The proxy of the settings overrides the proxy of the layer.
  const proxy = settings && fieldOf(settings, "proxyUrl");
  const own = node.fields.filter(([name]) => proxy === undefined || name !== "proxyUrl");
  const fields = [...own, ...inherited, ...(proxy === undefined ? [] : [["proxyUrl", proxy] as const])];
  return {
    root,
    node: {
      ...node,
      fields: fields.map(([name, value]) => [name, WITH_VARIABLES.includes(name) ? replaced(value, variables) : value]),
    },
  };
}

/** Returns a store with its variables replaced. */
const effectiveStore = ({ root, node }: RootedDocument, variables: ReplacedVariables): RootedDocument => ({
  root,
  node: { ...node, fields: node.fields.map(([name, value]): NamedNode => [name, replaced(value, variables)]) },
});

/** Replaces `${NAME}` and `${NAME:default}`. */
function replaced(value: DocumentNode, variables: ReplacedVariables): DocumentNode {
  if (variables === undefined || typeof value !== "string") return value;
  return value.replace(/\$\{([^}:]+)(?::([^}]*))?\}/g, (whole, name: string, standard: string | undefined) => {
    return variables[name] ?? standard ?? whole;
  });
}

/** Returns an object with the values in force, in the form of the configuration file. */
export function effectiveContent(
  kind: ListedKind,
  document: RootedDocument,
  settings: MapNode | undefined,
  variables: ReplacedVariables,
): Content {
  const own = ownContent(document);
  if (own !== undefined) return own;
  if (kind === "layer") return layerContent(effectiveLayer(document, settings, variables));
  return OBJECTS[kind].contentOf(kind === "store" ? effectiveStore(document, variables) : document);
}
