import type { Origin } from "../problem.ts";
import { type ConfiguredObject, documentOf, type ObjectKind } from "./configured-object.ts";
import { OBJECTS } from "./object-kinds.ts";

/** The word for each kind in messages. */
export const KIND_NAMES: Readonly<Record<ObjectKind, string>> = {
  layer: "layer",
  gridSet: "grid set",
  store: "store",
  settings: "document of settings",
};

const MADE = " that was made over HTTP";
/** Matches an origin that names an object. The path of its problem then begins with an index in a list. */
const OBJECT = new RegExp(
  `^(?:.*: )?the (?:${Object.values(KIND_NAMES).join("|")}) "(?:[^"\\\\]|\\\\.)*"(?:${MADE})?$`,
  "s",
);

/** Returns an object with its kind, for messages. */
export const objectText = ({ kind, name }: Pick<ConfiguredObject, "kind" | "name">): string =>
  `the ${KIND_NAMES[kind]} ${JSON.stringify(name)}`;

/**
 * Returns where an object is configured, for messages.
 * @param file GeoWebCache's file, with the line of the object if it has one; undefined if the object was made over HTTP
 */
export function originOfObject(
  configured: Pick<ConfiguredObject, "kind" | "name">,
  file?: { readonly file: string; readonly line: number | undefined },
): string {
  const object = objectText(configured);
  if (file === undefined) return `${object}${MADE}`;
  return `${file.file}${file.line === undefined ? "" : `, line ${file.line}`}: ${object}`;
}

/** The path and message of a problem. */
interface Placed {
  readonly path: string;
  readonly message: string;
}

/**
 * Returns the path of a problem inside its object, and the message with that path. Undefined if the problem does not
 * concern an object.
 * @param file the origin of the problem; absent if each problem of a section concerns an object
 * @param names whether the path names the elements of GeoWebCache's document or the keys of the configuration file
 */
export function inObject(
  { file, path, message }: Placed & { readonly file?: string },
  names: "elements" | "keys",
): Placed | undefined {
  const [own = "", section] = /^(\w+)\[\d+\]\.?/.exec(path) ?? [];
  const kind = Object.values(OBJECTS).find((one) => one.section === section);
  if (kind === undefined || (file !== undefined && !OBJECT.test(file))) return undefined;
  const inner = path.slice(own.length);
  const element = names === "elements" ? kind.pathOf(inner) : inner;
  const sentence = message.startsWith(path) ? message.slice(path.length) : `: ${message}`;
  return { path: element, message: element === "" ? sentence.replace(/^: /, "") : `${element}${sentence}` };
}

/** The place where a layer is configured: the file as the operator named it, the variable or flag, or a request. */
export type LayerOrigin = Pick<Origin, "file" | "line">;

/** Returns where a layer is configured. Undefined for a demo layer. */
export function layerOrigin(
  {
    layerOrigins,
    objects,
    geowebcache,
  }: {
    readonly layerOrigins: ReadonlyMap<string, Origin>;
    readonly objects: readonly ConfiguredObject[];
    readonly geowebcache?: { readonly file: string };
  },
  name: string,
): LayerOrigin | undefined {
  if (documentOf(objects, "layer", name) === undefined) return layerOrigins.get(name);
  return { file: geowebcache?.file ?? originOfObject({ kind: "layer", name }) };
}
