import type { ArcgisCacheSourceOptions, ConnectionOptions, SourceOptions } from "../../../layer/source-options.ts";
import { asLayerName, type LayerName } from "../../../layer/tile-set.ts";
import { defined } from "../../../lib/defined.ts";
import { addressesOf } from "../../../source/http/servers.ts";
import type { ArcgisCacheSourceDocument, SourceDocument, UpstreamDocument } from "../../fields/source-schema.ts";
import type { Path, Problems } from "../read/problems.ts";
import { warnOfEscapes } from "./addresses.ts";
import type { NamedCache } from "./arcgis-caches.ts";
import type { NamedArchive } from "./archives.ts";
import { buildTls } from "./build-tls.ts";

/**
 * Builds the options of a source.
 * @param layer the name of the layer; also the layer to request if the document names none
 * @param archive the archive of the source, if it is one
 * @param cache the ArcGIS cache of the source, if it is one
 */
export function buildSource(
  document: SourceDocument,
  layer: LayerName,
  { archive, cache }: { readonly archive?: NamedArchive | undefined; readonly cache?: NamedCache | undefined },
  path: Path,
  problems: Problems,
): SourceOptions {
  switch (document.type) {
    case "demo":
    case "none":
      return document;
    case "group":
      return { ...document, layers: document.layers.map(asLayerName) };
    case "wms": {
      const { layers = [layer], ...plain } = buildUpstream(document, path, problems);
      return { ...plain, layers };
    }
    case "xyz":
      return buildUpstream(document, path, problems);
    case "wmts": {
      const { layer: own = layer, ...plain } = buildUpstream(document, path, problems);
      return { ...plain, layer: own };
    }
    case "arcgis": {
      const { mode, layers = [], transparent = true, ...plain } = buildUpstream(document, path, problems);
      return mode === "export" ? { ...plain, mode, layers, transparent } : { ...plain, mode };
    }
    case "arcgisCache":
      return { ...document, ...cacheOptions(document, cache, path, problems) };
    case "mbtiles":
    case "pmtiles": {
      const { file = document.file, report } = archive ?? {};
      if (report?.ok === false) problems.add([...path, "file"], `${JSON.stringify(file)}: ${report.error}`);
      return { ...document, file, stamp: report?.ok === true ? report.value.stamp : "" };
    }
  }
}

/**
 * Builds the options of an ArcGIS cache. Without a cache (no file is read, or there is a problem) they are never used.
 */
function cacheOptions(
  document: ArcgisCacheSourceDocument,
  cache: NamedCache | undefined,
  at: Path,
  problems: Problems,
): Omit<ArcgisCacheSourceOptions, "type" | "hexZoom" | keyof ConnectionOptions> {
  const { path = document.path, tilesPath = document.tilesPath, report, tilesFault } = cache ?? {};
  const paths = { path, ...defined({ tilesPath }) };
  if (tilesFault !== undefined) problems.add([...at, "tilesPath"], `${JSON.stringify(tilesPath)}: ${tilesFault}`);
  if (report?.ok === true) {
    const { storage, tileFormat, levels, stamp } = report.value.scheme;
    return { ...paths, storage, tileFormat, levels, stamp };
  }
  if (report !== undefined) problems.add([...at, "path"], `${JSON.stringify(path)}: ${report.error}`);
  return { ...paths, storage: "esriMapCacheStorageModeExploded", tileFormat: "png", levels: [], stamp: "" };
}

/** Returns a source without the files of its TLS options, so that `buildSource` does not read them. */
export function withoutFiles(document: SourceDocument): SourceDocument {
  if (!("ca" in document || "cert" in document || "key" in document)) return document;
  const { ca: _, cert: __, key: ___, ...plain } = document;
  return plain;
}

/** Builds the options of a source over HTTP. Reads the files of its TLS options, and checks its addresses. */
function buildUpstream<D extends UpstreamDocument>(document: D, path: Path, problems: Problems) {
  const { timeoutSeconds, ca: _, cert: __, key: ___, ...plain } = document;
  const tls = buildTls(document, path, problems);
  for (const [i, address] of addressesOf(document).entries())
    warnOfEscapes(address, [...path, "url", ...(typeof document.url === "string" ? [] : [i])], problems);
  return {
    ...plain,
    timeoutMs: Math.max(1, Math.round(timeoutSeconds * 1000)),
    ...(tls === undefined ? {} : { tls }),
  };
}
