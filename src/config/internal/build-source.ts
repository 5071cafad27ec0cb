import type { SourceOptions } from "../../layer/layer.ts";
import { type Archives, buildArchive } from "./archives.ts";
import { buildArcgis } from "./build-arcgis-source.ts";
import { buildWmts, buildXyz } from "./build-tile-source.ts";
import { buildConnections, buildUpstream, checkAddresses } from "./build-upstream.ts";
import type { Path, Problems } from "./problems.ts";
import type { SourceDocument, WmsSourceDocument } from "./schema/source-schema.ts";

/** Parameters that Nuthatch sets itself. `vendorParameters` must not contain them. */
const PROTOCOL_PARAMETERS = [
  "SERVICE",
  "REQUEST",
  "VERSION",
  "LAYERS",
  "STYLES",
  "SRS",
  "CRS",
  "BBOX",
  "WIDTH",
  "HEIGHT",
  "FORMAT",
  "TRANSPARENT",
];

export function buildSource(
  document: SourceDocument,
  layer: string,
  archives: Archives,
  path: Path,
  problems: Problems,
): SourceOptions {
  switch (document.type) {
    case "demo":
      return { type: "demo", dataset: document.dataset, ...buildConnections(document, path, problems) };
    case "wms":
      return buildWms(document, layer, path, problems);
    case "xyz":
      return buildXyz(document, path, problems);
    case "wmts":
      return buildWmts(document, layer, path, problems);
    case "arcgis":
      return buildArcgis(document, path, problems);
    case "mbtiles":
    case "pmtiles":
      return buildArchive(document, archives, path, problems);
  }
}

function buildWms(document: WmsSourceDocument, layer: string, path: Path, problems: Problems): SourceOptions {
  checkAddresses(document.url, [...path, "url"], problems, { expected: () => undefined, subdomains: [] });
  const { version, layers = [layer], styles, transparent } = document;
  if (styles.length > layers.length)
    problems.add([...path, "styles"], `expected at most one per layer (${layers.length}), got ${styles.length}`);
  return {
    type: "wms",
    version,
    layers,
    styles,
    transparent,
    ...buildUpstream(document, PROTOCOL_PARAMETERS, path, problems),
  };
}
