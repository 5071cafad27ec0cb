import type { Doc } from "../../core/server/api.ts";
import { sendTagged } from "../../core/server/api.ts";
import type { TextKey } from "../../core/text/i18n.ts";

/** An object of the configuration as the editor shows it. */
export interface EditedObject {
  /** The document that PUT accepts. */
  readonly configuration: unknown;
  readonly editable: boolean;
  /** The file and the line of the object. Undefined if it is not in a file. */
  readonly place: string | undefined;
}

/** A kind of objects that the editor can change. */
export interface EditedKind {
  /** The collection under `/api/v1`, and the segment of the console's address. */
  readonly collection: string;
  /** The key of the document that contains the name. */
  readonly nameKey: "name" | "id";
  readonly one: TextKey;
  readonly make: TextKey;
  /** The document of a new object. */
  readonly template: unknown;
  /** Whether a change can truncate the object's own tiles. */
  readonly hasTiles: boolean;
  /** Returns the path segments of the view that shows the object, or the list of its kind. */
  readonly listed: (name: string) => readonly string[];
  readonly read: (document: unknown) => EditedObject;
}

/** Returns an answer without the fields that are not configuration. */
function withoutFacts(document: Doc<"GridSet">): unknown {
  const { origin: _, editable: __, configuredAt: ___, layers: ____, ...configuration } = document;
  return configuration;
}

export const KINDS: readonly EditedKind[] = [
  {
    collection: "layers",
    nameKey: "name",
    one: "field.layer",
    make: "edit.newLayer",
    template: {
      name: "",
      title: "",
      source: { type: "wms", url: "http://127.0.0.1:9000/wms", layers: [""] },
      gridSubsets: [{ gridSet: "EPSG:900913" }, { gridSet: "EPSG:4326" }],
      formats: ["image/png"],
    },
    hasTiles: true,
    listed: (name) => ["layers", name],
    read(document) {
      const { configuration, editable, configuredAt } = document as Doc<"Layer">;
      const place =
        configuredAt === null
          ? undefined
          : [configuredAt.file, configuredAt.line].filter((part) => part !== null).join(":");
      return { configuration, editable, place };
    },
  },
  {
    collection: "grid-sets",
    nameKey: "id",
    one: "edit.gridSet",
    make: "edit.newGridSet",
    template: {
      id: "",
      srs: "EPSG:25832",
      extent: [0, 0, 0, 0],
      resolutions: [1000, 500, 250],
    },
    hasTiles: false,
    listed: () => ["settings", "gridSets"],
    read(document) {
      const gridSet = document as Doc<"GridSet">;
      const { editable, configuredAt } = gridSet;
      return { configuration: withoutFacts(gridSet), editable, place: configuredAt ?? undefined };
    },
  },
  {
    collection: "stores",
    nameKey: "id",
    one: "edit.store",
    make: "edit.newStore",
    template: { id: "", type: "file", path: "/srv/tiles", layout: "gwc" },
    hasTiles: false,
    listed: () => ["settings", "stores"],
    read(document) {
      const { configuration, editable, configuredAt } = document as Doc<"Store">;
      return { configuration, editable, place: configuredAt ?? undefined };
    },
  },
];

/** An object as it was read, with its tag. */
export interface Read extends EditedObject {
  readonly tag: string | null;
}

/** Reads an object of the configuration. @throws Problem */
export async function readObject(kind: EditedKind, name: string): Promise<Read> {
  const path = `${kind.collection}/${encodeURIComponent(name)}`;
  const { document, tag } = await sendTagged<unknown>({ method: "GET", path });
  return { ...kind.read(document), tag };
}
