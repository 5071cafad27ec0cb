import type { WmtsSourceOptions, XyzSourceOptions } from "../../layer/layer.ts";
import { addressesOf } from "../../source/http/servers.ts";
import { placeholdersOf } from "../../source/tiles/tile-template.ts";
import { buildUpstream, checkAddresses } from "./build-upstream.ts";
import type { Path, Problems } from "./problems.ts";
import type { WmtsSourceDocument, XyzSourceDocument } from "./schema/source-schema.ts";

const braced = (names: readonly string[]): string => names.map((name) => `{${name}}`).join(", ");

const XYZ_PLACEHOLDERS = ["z", "x", "y", "-y", "q", "s"];

export function buildXyz(document: XyzSourceDocument, path: Path, problems: Problems): XyzSourceOptions {
  const { subdomains } = document;
  checkAddresses(document.url, [...path, "url"], problems, {
    subdomains,
    expected: (address) => {
      const names = placeholdersOf(address);
      const has = (name: string) => names.includes(name);
      if (names.some((name) => !XYZ_PLACEHOLDERS.includes(name)))
        return `no other placeholders than ${braced(XYZ_PLACEHOLDERS)}`;
      if (!has("q") && !(has("z") && has("x") && (has("y") || has("-y"))))
        return "{z}, {x} and {y} or {-y}, or else {q}";
      return has("s") && subdomains.length === 0 ? "subdomains beside it, as it has {s}" : undefined;
    },
  });
  if (subdomains.length > 0 && !addressesOf(document).some((address) => address.includes("{s}")))
    problems.add([...path, "subdomains"], "is given, but no address has {s}");
  return { type: "xyz", subdomains, ...buildUpstream(document, [], path, problems) };
}

const WMTS_PLACEHOLDERS = ["TileMatrix", "TileRow", "TileCol", "TileMatrixSet", "Style", "Layer", "Format"];
/** Parameters that Nuthatch sets itself. `vendorParameters` must not contain them. */
const WMTS_PARAMETERS = ["SERVICE", "REQUEST", "VERSION", ...WMTS_PLACEHOLDERS.map((name) => name.toUpperCase())];

export function buildWmts(
  document: WmtsSourceDocument,
  layerName: string,
  path: Path,
  problems: Problems,
): WmtsSourceOptions {
  const { layer = layerName, style, tileMatrixSet, tileMatrixPrefix, tileMatrices, format } = document;
  checkAddresses(document.url, [...path, "url"], problems, {
    subdomains: [],
    expected: (address) => {
      const names = placeholdersOf(address).map((name) => name.toLowerCase());
      const has = (name: string) => names.includes(name.toLowerCase());
      if (names.length === 0)
        return tileMatrixSet === "" ? "tileMatrixSet beside it, as it has no placeholders" : undefined;
      if (names.some((name) => !WMTS_PLACEHOLDERS.some((known) => known.toLowerCase() === name)))
        return `no other placeholders than ${braced(WMTS_PLACEHOLDERS)}`;
      const missing = ["TileMatrix", "TileRow", "TileCol"].filter((name) => !has(name));
      if (missing.length > 0) return `${braced(missing)} too, as it has placeholders`;
      if (has("TileMatrixSet") && tileMatrixSet === "") return "tileMatrixSet beside it, as it has {TileMatrixSet}";
      return has("Style") && style === "" ? "style beside it, as it has {Style}" : undefined;
    },
  });
  if (tileMatrixPrefix !== undefined && tileMatrices !== undefined)
    problems.add([...path, "tileMatrixPrefix"], "is given beside tileMatrices; expected one of them");
  return {
    type: "wmts",
    layer,
    style,
    tileMatrixSet,
    ...(tileMatrixPrefix === undefined ? {} : { tileMatrixPrefix }),
    ...(tileMatrices === undefined ? {} : { tileMatrices }),
    ...(format === undefined ? {} : { format }),
    ...buildUpstream(document, WMTS_PARAMETERS, path, problems),
  };
}
