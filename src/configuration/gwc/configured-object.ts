import type { GridSetName } from "../../grid/grid-set.ts";
import type { LayerName } from "../../layer/tile-set.ts";
import type { MapNode, RootedDocument } from "./document-node.ts";
import { mergedSettings } from "./settings.ts";

/** The kinds of objects that can be made over HTTP. There is only one object of the kind `settings`. */
export const OBJECT_KINDS = ["layer", "gridSet", "store", "settings"] as const;
export type ObjectKind = (typeof OBJECT_KINDS)[number];

/** The name of the object of settings. */
export const SETTINGS = "global";

/** An object that was made over HTTP. */
export interface ConfiguredObject {
  readonly kind: ObjectKind;
  readonly name: string;
  /** Undefined for an object of the configuration file that was removed over HTTP (`config.writable`). */
  readonly document: RootedDocument | undefined;
}

/** A change of one object: its new document, or its removal. */
export interface ObjectChange extends ConfiguredObject {
  /**
   * The tag of the state that the client has seen. Null if the client expects that the object does not exist. Absent if
   * it accepts any state.
   */
  readonly expected?: string | null;
  /** True if the configuration file has an object of this name, so that its removal must be stored. */
  readonly isInFile?: true;
}

/** The effect that a change of an object would have. */
export interface ObjectEffect {
  /** The layers that the change adds, changes or removes. */
  readonly layers: readonly string[];
  /** The grid sets of layers whose stored tiles would show other places after the change. These tiles are truncated. */
  readonly moved: readonly { readonly layer: LayerName; readonly gridSet: GridSetName }[];
  /** The layers whose stored tiles stay in the old location of their store. */
  readonly relocated: readonly LayerName[];
}

/** Returns the objects after a change. A new object is the last one. */
export function changedObjects(
  objects: readonly ConfiguredObject[],
  { kind, name, document, isInFile }: ObjectChange,
): readonly ConfiguredObject[] {
  const at = objects.findIndex((object) => object.kind === kind && object.name === name);
  if (document === undefined && isInFile !== true) return objects.filter((_, i) => i !== at);
  const changed = { kind, name, document };
  return at < 0 ? [...objects, changed] : objects.with(at, changed);
}

/** The key of an object in `Configuration.overridden`. */
export const overriddenKey = ({ kind, name }: Pick<ConfiguredObject, "kind" | "name">): string => `${kind} ${name}`;

/** Returns the file that has a grid set or a store. Undefined if the server has no configuration file. */
export const fileOf = (
  { file, includedIn }: { readonly file: string | undefined; readonly includedIn: ReadonlyMap<string, string> },
  object: Pick<ConfiguredObject, "kind" | "name">,
): string | undefined => includedIn.get(overriddenKey(object)) ?? file;

/** Returns the document of an object. Undefined if the object was not made over HTTP, or was removed. */
export const documentOf = (
  objects: readonly ConfiguredObject[],
  kind: ObjectKind,
  name: string,
): RootedDocument | undefined => objects.find((object) => object.kind === kind && object.name === name)?.document;

/** Returns whether an object is the default store: the store of layers that name none. */
export const isDefaultStore = ({ kind, document }: Pick<ConfiguredObject, "kind" | "document">): boolean =>
  kind === "store" && document?.node.attributes["default"] === "true";

/**
 * Returns the changes that follow from one change. New settings are merged into the present settings. After a new
 * default store no other store is the default.
 */
export function changesOf(objects: readonly ConfiguredObject[], change: ObjectChange): readonly ObjectChange[] {
  if (change.kind === "settings" && change.document !== undefined)
    return [{ ...change, document: mergedSettings(settingsOf(objects), change.document.node) }];
  if (!isDefaultStore(change)) return [change];
  const others = objects.filter((object) => isDefaultStore(object) && object.name !== change.name);
  return [...others.map((other) => ({ ...other, document: other.document && notDefault(other.document) })), change];
}

const notDefault = ({ root, node }: RootedDocument): RootedDocument => ({
  root,
  node: { ...node, attributes: { ...node.attributes, default: "false" } },
});

/** Returns the settings that were made over HTTP, or that GeoWebCache's file has. Undefined without settings. */
export const settingsOf = (objects: readonly ConfiguredObject[]): MapNode | undefined =>
  documentOf(objects, "settings", SETTINGS)?.node;
