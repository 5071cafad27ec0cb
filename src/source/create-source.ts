import type { SourceOptions } from "../layer/source-options.ts";
import type { SourceParts } from "./http/http-source.ts";
import type { Source } from "./source.ts";

/**
 * Creates the source for its options. Loads only the code of that kind of source, because renderers start while a user
 * waits.
 */
export async function createSource(options: SourceOptions, parts: SourceParts): Promise<Source> {
  switch (options.type) {
    case "wms":
      return (await import("./wms/wms-source.ts")).createWmsSource(options, parts);
    case "xyz":
      return (await import("./tiles/xyz-source.ts")).createXyzSource(options, parts);
    case "wmts":
      return (await import("./tiles/wmts-source.ts")).createWmtsSource(options, parts);
    case "arcgis":
      return (await import("./arcgis/arcgis-source.ts")).createArcgisSource(options, parts);
    case "arcgisCache":
      return (await import("./arcgis/arcgis-cache-source.ts")).createArcgisCacheSource(options);
    case "mbtiles":
    case "pmtiles":
      return (await import("./archive/archive-source.ts")).createArchiveSource(options, parts);
    case "group":
    case "none":
      return (await import("./disk/no-source.ts")).NO_SOURCE;
    case "demo":
      return (await import("./demo/demo-source.ts")).createDemoSource(options);
  }
}
