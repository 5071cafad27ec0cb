import type { GridSet } from "../grid/grid-set.ts";
import { gridSetDocument } from "../grid/grid-set-document.ts";
import type { Layer } from "../layer/layer.ts";
import { contentEtag } from "../lib/http/etag.ts";
import { layerConfiguration } from "./layer-configuration.ts";

/**
 * Returns the entity tag of a layer's configuration. Secrets do not change the tag, because a reader could compare
 * guesses of a secret with it.
 */
export const layerTag = (layer: Layer): string => contentEtag(JSON.stringify(layerConfiguration(layer)));

export const gridSetTag = (gridSet: GridSet): string => contentEtag(JSON.stringify(gridSetDocument(gridSet)));
