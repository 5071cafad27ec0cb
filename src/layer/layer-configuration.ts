import { corners } from "../grid/grid-set-document.ts";
import { masked } from "../lib/masked.ts";
import type { ByZoom } from "./by-zoom.ts";
import type { Layer, SourceOptions } from "./layer.ts";

type Configuration = Readonly<Record<string, unknown>>;

/** Returns a layer as the configuration file has layers: as `layerConfigurationWithSecrets`, with its secrets masked. */
export const layerConfiguration = (layer: Layer): Configuration =>
  maskedConfiguration(layerConfigurationWithSecrets(layer));

/** Returns a configuration with its secrets masked. */
export const maskedConfiguration = (configuration: Configuration): Configuration =>
  Object.fromEntries(Object.entries(configuration).map(([key, value]) => [key, masked(value, [key])]));

/**
 * Returns a layer as the configuration file has layers: defaults filled in. YAML and JSON leave out undefined keys. No
 * answer and no message has it.
 */
export function layerConfigurationWithSecrets({ vectorLayers: _, digest: __, ...layer }: Layer): Configuration {
  return {
    ...layer,
    source: sourceConfiguration(layer.source),
    gridSubsets: layer.gridSubsets.map(({ gridSet, extent, zoomStart, zoomStop, minCachedLevel, maxCachedLevel }) => ({
      gridSet: gridSet.id,
      extent: extent && corners(extent),
      zoomStart,
      zoomStop,
      minCachedLevel,
      maxCachedLevel,
    })),
    formats: layer.formats.map((format) => format.mimeType),
    expireCacheSeconds: expiryConfiguration(layer.expireCacheSeconds),
    expireClientSeconds: expiryConfiguration(layer.expireClientSeconds),
  };
}

function sourceConfiguration(source: SourceOptions): Configuration {
  if (source.type === "demo" || source.type === "none") return { ...source };
  if (source.type === "mbtiles" || source.type === "pmtiles") {
    const { stamp: _, ...plain } = source;
    return plain;
  }
  if (source.type === "arcgisCache") {
    const { storage: _, tileFormat: __, levels: ___, stamp: ____, ...plain } = source;
    return plain;
  }
  const { timeoutMs, vendorParameters, username, password, proxy, tls, ...plain } = source;
  const { stamp: _, ...files } = tls ?? { stamp: "" };
  return { ...plain, ...files, proxy, timeoutSeconds: timeoutMs / 1000, vendorParameters, username, password };
}

/** Returns one number if the same seconds hold for all zooms, the usual form in a file, else a list of rules. */
function expiryConfiguration(rules: ByZoom<number | "no-cache">) {
  const list = rules.map(({ minZoom, value }) => ({ minZoom, seconds: value === "no-cache" ? -1 : value }));
  return list.length === 1 ? list[0]?.seconds : list;
}
