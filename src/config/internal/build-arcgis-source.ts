import type { ArcgisSourceOptions } from "../../layer/layer.ts";
import { placeholdersOf } from "../../source/tiles/tile-template.ts";
import { buildUpstream, checkAddresses } from "./build-upstream.ts";
import type { Path, Problems } from "./problems.ts";
import type { ArcgisSourceDocument } from "./schema/source-schema.ts";

/** Parameters that Nuthatch sets itself. `vendorParameters` must not contain them. */
const EXPORT_PARAMETERS = ["BBOX", "BBOXSR", "IMAGESR", "SIZE", "FORMAT", "TRANSPARENT", "LAYERS", "F"];

export function buildArcgis(document: ArcgisSourceDocument, path: Path, problems: Problems): ArcgisSourceOptions {
  const { mode, layers, transparent } = document;
  checkAddresses(document.url, [...path, "url"], problems, {
    subdomains: [],
    expected: (address) => {
      if (placeholdersOf(address).length > 0) return "no placeholders";
      return /\/MapServer\/?(\?|$)/i.test(address) ? undefined : "the address of a map service, ending in /MapServer";
    },
  });
  const upstream = buildUpstream(document, mode === "export" ? EXPORT_PARAMETERS : [], path, problems);
  switch (mode) {
    case "export":
      return { type: "arcgis", mode, layers: layers ?? [], transparent: transparent ?? true, ...upstream };
    case "tile":
      for (const key of ["layers", "transparent"] as const)
        if (document[key] !== undefined)
          problems.add([...path, key], "is of mode export only: the tiles of a cache are rendered already", "key");
      return { type: "arcgis", mode, ...upstream };
  }
}
