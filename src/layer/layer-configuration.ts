import { corners } from "../grid/grid-set-document.ts";
import { MASKED, withMaskedQuery } from "../lib/masked.ts";
import type { ByZoom } from "./by-zoom.ts";
import type { Layer, SourceOptions } from "./layer.ts";

type Configuration = Readonly<Record<string, unknown>>;

/**
 * Returns a layer as the configuration file has layers: defaults filled in, secrets masked. YAML and JSON leave out
 * undefined keys.
 */
export function layerConfiguration({ vectorLayers: _, digest: __, ...layer }: Layer): Configuration {
  return {
    ...layer,
    source: sourceConfiguration(layer.source),
    updateSources: layer.updateSources?.map(({ url, username, password, ...plain }) => ({
      ...plain,
      url: withMaskedQuery(url),
      username: username === undefined ? undefined : MASKED,
      password: password === undefined ? undefined : MASKED,
    })),
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
  return {
    ...plain,
    ...files,
    proxy: proxy?.replace(/\/\/[^/]*@/, `//${MASKED}@`),
    timeoutSeconds: timeoutMs / 1000,
    // A vendor parameter may be a key of the upstream.
    vendorParameters: Object.fromEntries(Object.keys(vendorParameters).map((key) => [key, MASKED])),
    username: username === undefined ? undefined : MASKED,
    password: password === undefined ? undefined : MASKED,
  };
}

/** Returns one number if the same seconds hold for all zooms, the usual form in a file, else a list of rules. */
function expiryConfiguration(rules: ByZoom<number | "no-cache">) {
  const list = rules.map(({ minZoom, value }) => ({ minZoom, seconds: value === "no-cache" ? -1 : value }));
  return list.length === 1 ? list[0]?.seconds : list;
}
