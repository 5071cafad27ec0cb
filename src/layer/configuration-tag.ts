import { createHash } from "node:crypto";
import type { GridSet } from "../grid/grid-set.ts";
import { gridSetDocument } from "../grid/grid-set-document.ts";
import type { Layer } from "./layer.ts";
import { layerConfiguration } from "./layer-configuration.ts";

const tagOf = (shown: unknown): string =>
  `"${createHash("sha256").update(JSON.stringify(shown)).digest("base64url").slice(0, 22)}"`;

/**
 * Returns the entity tag of a layer's configuration. Secrets do not change the tag: everybody who may read could
 * compare guesses with it.
 */
export const layerTag = (layer: Layer): string => tagOf(layerConfiguration(layer));

export const gridSetTag = (gridSet: GridSet): string => tagOf(gridSetDocument(gridSet));
