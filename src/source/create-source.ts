import type { SourceOptions } from "../layer/layer.ts";
import { createArcgisSource } from "./arcgis-source.ts";
import { createArchiveSource } from "./archive-source.ts";
import { createDemoSource } from "./demo-source.ts";
import type { Source } from "./source.ts";
import { createWmsSource } from "./wms-source.ts";
import { createWmtsSource } from "./wmts-source.ts";
import { createXyzSource } from "./xyz-source.ts";

/** A source of the kind its options name. */
export function createSource(options: SourceOptions): Source {
  switch (options.type) {
    case "wms":
      return createWmsSource(options);
    case "xyz":
      return createXyzSource(options);
    case "wmts":
      return createWmtsSource(options);
    case "arcgis":
      return createArcgisSource(options);
    case "mbtiles":
    case "pmtiles":
      return createArchiveSource(options);
    case "demo":
      return createDemoSource(options);
  }
}
