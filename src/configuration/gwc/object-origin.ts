import type { ConfiguredObject, ObjectKind } from "./configured-object.ts";

const KIND_NAMES: Readonly<Record<ObjectKind, string>> = {
  layer: "layer",
  gridSet: "grid set",
  store: "store",
  settings: "document of settings",
};

const MADE = " that was made over HTTP";
const OBJECT = new RegExp(
  `^(?:.*: )?the (?:${Object.values(KIND_NAMES).join("|")}) "(?:[^"\\\\]|\\\\.)*"(?:${MADE})?$`,
  "s",
);

/**
 * Returns where an object is configured, for messages.
 * @param file the file of GeoWebCache that it stands in, with its line if the object has one there; undefined: the object
 *   was made over HTTP
 */
export function originOfObject(
  { kind, name }: Pick<ConfiguredObject, "kind" | "name">,
  file?: { readonly file: string; readonly line: number | undefined },
): string {
  const object = `the ${KIND_NAMES[kind]} ${JSON.stringify(name)}`;
  if (file === undefined) return `${object}${MADE}`;
  return `${file.file}${file.line === undefined ? "" : `, line ${file.line}`}: ${object}`;
}

/** Returns whether an origin is that of an object, so that the path of a problem begins with the object's place in a list. */
export const isOriginOfObject = (origin: string): boolean => OBJECT.test(origin);

/** A problem, or a part of one. */
interface Placed {
  readonly path: string;
  readonly message: string;
}

/** Returns the path of a problem in its object, and the message with that path. Undefined: it is not of an object. */
export function inObject(
  { file, path, message }: Placed & { readonly file: string },
  elementPath: (path: string) => string,
): Placed | undefined {
  const own = /^(?:layers|gridSets|stores)\[\d+\]\.?/.exec(path)?.[0];
  if (own === undefined || !isOriginOfObject(file)) return undefined;
  const element = elementPath(path.slice(own.length));
  const sentence = message.startsWith(path) ? message.slice(path.length) : `: ${message}`;
  return { path: element, message: element === "" ? sentence.replace(/^: /, "") : `${element}${sentence}` };
}
