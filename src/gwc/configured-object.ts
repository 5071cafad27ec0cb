import type { RootedDocument } from "./document-node.ts";

/** The kinds of objects that can be made over HTTP. */
export type ObjectKind = "layer" | "gridSet";

/** A layer or a grid set that was made over HTTP. */
export interface ConfiguredObject {
  readonly kind: ObjectKind;
  readonly name: string;
  readonly document: RootedDocument;
}

/** A change of one object: its new document, or its removal. */
export interface ObjectChange {
  readonly kind: ObjectKind;
  readonly name: string;
  readonly document: RootedDocument | undefined;
  /** The tag of the state that the client has seen; null: the client expects no such object. Absent: any state. */
  readonly expected?: string | null;
}

/** What a change of an object would do. */
export interface ObjectEffect {
  /** The layers that it adds, changes or removes. */
  readonly layers: readonly string[];
  /** The grid sets of layers whose stored tiles would show other places: they are truncated. */
  readonly moved: readonly { readonly layer: string; readonly gridSet: string }[];
}

/** Returns the objects after a change. A new object comes last. */
export function changedObjects(
  objects: readonly ConfiguredObject[],
  { kind, name, document }: ObjectChange,
): readonly ConfiguredObject[] {
  const at = objects.findIndex((object) => object.kind === kind && object.name === name);
  if (document === undefined) return objects.filter((_, i) => i !== at);
  const changed = { kind, name, document };
  return at < 0 ? [...objects, changed] : objects.with(at, changed);
}

/** Returns an object; undefined: it was not made over HTTP. */
export const objectOf = (
  objects: readonly ConfiguredObject[],
  kind: ObjectKind,
  name: string,
): ConfiguredObject | undefined => objects.find((object) => object.kind === kind && object.name === name);
