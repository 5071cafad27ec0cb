import type * as z from "zod";
import { corners } from "../grid/extent.ts";
import type { ByZoom } from "../layer/by-zoom.ts";
import type { Layer } from "../layer/layer.ts";
import type { SourceOptions } from "../layer/source-options.ts";
import { contentEtag } from "../lib/http/etag.ts";
import type { ReadonlyDeep } from "../lib/readonly-deep.ts";
import { masked } from "../lib/text/masked.ts";
import type { LayerSchema } from "./fields/layer-schema.ts";

/** A layer in the form of the configuration file. */
export type LayerKeys = ReadonlyDeep<z.input<typeof LayerSchema>>;

/** Returns a layer in the form of the configuration file, with defaults and masked secrets. */
export const layerConfiguration = (layer: Layer): LayerKeys => masked(layerConfigurationWithSecrets(layer));

/**
 * Returns the entity tag of a layer's configuration. Secrets do not change the tag, because a reader could compare
 * guesses of a secret with it.
 */
export const layerTag = (layer: Layer): string => contentEtag(JSON.stringify(layerConfiguration(layer)));

/**
 * Returns a layer in the form of the configuration file, with defaults and secrets. The result must not be in an answer
 * or a message.
 */
export function layerConfigurationWithSecrets({ vectorLayers: _, digest: __, ...layer }: Layer): LayerKeys {
  return {
    ...layer,
    source: sourceConfiguration(layer.source),
    gridSubsets: layer.gridSubsets.map(({ gridSet, extent, ...levels }) => ({
      gridSet: gridSet.id,
      ...(extent === undefined ? {} : { extent: corners(extent) }),
      ...levels,
    })),
    formats: layer.formats.map((format) => format.mimeType),
    expireCacheSeconds: expiryConfiguration(layer.expireCacheSeconds),
    expireClientSeconds: expiryConfiguration(layer.expireClientSeconds),
  };
}

function sourceConfiguration(source: SourceOptions): LayerKeys["source"] {
  if (source.type === "arcgisCache") {
    const { storage: _, tileFormat: __, levels: ___, stamp: ____, ...plain } = source;
    return plain;
  }
  if ("stamp" in source) {
    const { stamp: _, ...plain } = source;
    return plain;
  }
  if (!("url" in source)) return { ...source };
  const { timeoutMs, tls, ...plain } = source;
  const { stamp: _, ...files } = tls ?? { stamp: "" };
  return { ...plain, ...files, timeoutSeconds: timeoutMs / 1000 };
}

/** Returns one number if all zooms have the same seconds, which is the usual form in a file, else a list of rules. */
function expiryConfiguration(rules: ByZoom<number | "no-cache">) {
  const list = rules.map(({ minZoom, value }) => ({ minZoom, seconds: value === "no-cache" ? -1 : value }));
  return list.length === 1 ? list[0]?.seconds : list;
}
