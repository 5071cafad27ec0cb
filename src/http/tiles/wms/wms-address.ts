import type { Catalogue } from "../../../layer/catalogue.ts";
import { badField } from "../../../lib/refusal.ts";
import { ok } from "../../../lib/result.ts";
import type { Query } from "../../request/query.ts";
import { inLanguage } from "../inspire-elements.ts";
import { type ParsedAddress, type QueryParser, XML_TYPE } from "../tile-parts.ts";
import { parseGetFeatureInfo } from "./feature-info-address.ts";
import { parseGetLegendGraphic } from "./legend-address.ts";
import { parseGetMap } from "./map-address.ts";
import { withCode } from "./map-parts.ts";
import { wmsCapabilities111, wmsCapabilities130 } from "./wms-capabilities.ts";
import { wmsVersion } from "./wms-version.ts";

/** Parses a WMS request. `map` is the name of GetMap in WMS 1.0.0. */
export const parseWms: QueryParser = (catalogue, query) => {
  const request = query.get("REQUEST") ?? "";
  switch (request.toLowerCase()) {
    case "getmap":
    case "map":
      return parseGetMap(catalogue, query);
    case "getfeatureinfo":
      return parseGetFeatureInfo(catalogue, query);
    case "getlegendgraphic":
      return parseGetLegendGraphic(catalogue, query);
    case "getcapabilities":
    case "capabilities":
      return ok(wmsVersion(query) === "1.3.0" ? capabilities130(catalogue, query) : capabilities111(catalogue, query));
    default:
      return withCode(
        badField("REQUEST", "GetMap, GetFeatureInfo, GetLegendGraphic or GetCapabilities", request),
        "OperationNotSupported",
      );
  }
};

function capabilities130(catalogue: Catalogue, query: Query): ParsedAddress {
  const inOne = inLanguage(catalogue, query);
  return {
    kind: "document",
    name: `wms/1.3.0/${inOne.language}`,
    contentType: XML_TYPE,
    parts: (baseUrl) => wmsCapabilities130(inOne.catalogue, baseUrl, inOne.language),
  };
}

function capabilities111(catalogue: Catalogue, query: Query): ParsedAddress {
  const tileSets = query.get("TILED")?.toLowerCase() === "true" ? "listed" : "left out";
  return {
    kind: "document",
    name: `wms/1.1.1/${tileSets}`,
    contentType: "application/vnd.ogc.wms_xml",
    parts: (baseUrl) => wmsCapabilities111(catalogue, baseUrl, tileSets),
  };
}
