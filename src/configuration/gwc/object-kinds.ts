import type { Content } from "../../lib/is-map.ts";
import { GRID_SET } from "../fields/elements/grid-set-elements.ts";
import { LAYERS } from "../fields/elements/layer-elements.ts";
import { BLOB_STORES } from "../fields/elements/store-elements.ts";
import type { ObjectKind } from "./configured-object.ts";
import type { RootedDocument } from "./document-node.ts";
import { type Elements, mapTypes, pathIn } from "./element.ts";
import { gridSetContent } from "./grid-set-object.ts";
import { layerContent } from "./layer-object.ts";
import { storeContent } from "./store-object.ts";

/** The kinds of objects that are lists of the configuration. */
export type ListedKind = Exclude<ObjectKind, "settings">;

interface Facts {
  /** The section of the configuration file, and the key of the name in it. */
  readonly section: "layers" | "gridSets" | "stores";
  readonly nameKey: "name" | "id";
  /** The element of a `geowebcache.xml` that contains the objects, and the element of the name in an object. */
  readonly container: string;
  readonly nameField: string;
  /** The elements by the name of the root element. */
  readonly tables: Readonly<Record<string, Elements<never>>>;
  /** Returns a document in the form of the configuration file. */
  readonly contentOf: (document: RootedDocument) => Content;
}

const kind = (facts: Facts) => ({
  ...facts,
  roots: mapTypes(facts.tables),
  /** Converts a path in an object of the configuration file to a path in its document. */
  pathOf(path: string): string {
    for (const elements of Object.values(facts.tables)) {
      const found = pathIn(elements, path);
      if (found !== undefined) return found;
    }
    return path;
  },
});

export const OBJECTS: Readonly<Record<ListedKind, ReturnType<typeof kind>>> = {
  store: kind({
    section: "stores",
    nameKey: "id",
    container: "blobStores",
    nameField: "id",
    tables: BLOB_STORES,
    contentOf: storeContent,
  }),
  gridSet: kind({
    section: "gridSets",
    nameKey: "id",
    container: "gridSets",
    nameField: "name",
    tables: { gridSet: GRID_SET },
    contentOf: gridSetContent,
  }),
  layer: kind({
    section: "layers",
    nameKey: "name",
    container: "layers",
    nameField: "name",
    tables: LAYERS,
    contentOf: layerContent,
  }),
};
