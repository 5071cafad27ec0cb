import { corners, extentOf } from "../../grid/extent.ts";
import { asZoom } from "../../grid/grid-set.ts";
import { gridSetOfDocument } from "../../grid/grid-set-document.ts";
import { atEveryZoom } from "../../layer/by-zoom.ts";
import { type Catalogue, catalogueOf } from "../../layer/catalogue.ts";
import type { ParameterFilter } from "../../layer/filter/parameter-filter.ts";
import { formatOf } from "../../layer/format.ts";
import { gridSubset } from "../../layer/grid-subset.ts";
import { type Layer, STANDARD_LAYER_JOBS } from "../../layer/layer.ts";
import { DEFAULT_ENCODING } from "../../layer/picture/encoding.ts";
import { STANDARD_RESAMPLING } from "../../layer/picture/resampling.ts";
import { asLayerName } from "../../layer/tile-set.ts";
import { CommandFailure, EXIT } from "../exit.ts";
import type { Received } from "./answer.ts";

type Layers = Received<"Layers">;

/** The answer of `/api/v1/layers`. The `type` of a filter determines its fields. */
export interface CatalogueAnswer {
  readonly layers: readonly (Omit<Layers["layers"][number], "parameters"> & {
    readonly parameters: readonly ParameterFilter[];
  })[];
  readonly gridSets: Layers["gridSets"];
}

/** Returns a running server's layers, for parsing the addresses of its tiles. The layers' source is a placeholder. */
export function remoteCatalogue({ layers, gridSets }: CatalogueAnswer): Catalogue {
  const grids = new Map(
    gridSets.map((document) => {
      const read = gridSetOfDocument(document);
      if (!read.ok) throw new CommandFailure(`the server's grid set ${document.id}: ${read.error}`, EXIT.failure);
      return [document.id, read.value];
    }),
  );
  return catalogueOf(
    layers.map(({ name, title, formats, gridSets: subsets, parameters }): Layer => {
      const gridSubsets = subsets.map(({ gridSet: id, zoomStart, zoomStop, bounds }) => {
        const gridSet = grids.get(id);
        if (gridSet === undefined)
          throw new CommandFailure(`the answer of the server lacks its grid set ${id}`, EXIT.failure);
        const isWhole = corners(gridSet.extent).every((corner, n) => corner === bounds[n]);
        return gridSubset(gridSet, {
          zoomStart: asZoom(zoomStart),
          zoomStop: asZoom(zoomStop),
          ...(isWhole ? {} : { extent: extentOf(bounds) }),
        });
      });
      return {
        name: asLayerName(name),
        enabled: true,
        advertised: true,
        title,
        description: "",
        keywords: [],
        metadataUrls: [],
        source: { type: "demo", dataset: "world", connections: 1 },
        gridSubsets,
        formats: formats.flatMap((mimeType) => formatOf(mimeType) ?? []),
        metatile: [1, 1],
        gutter: 0,
        parameterFilters: parameters,
        legends: [],
        ...DEFAULT_ENCODING,
        expireCacheSeconds: atEveryZoom(0),
        staleWhileRevalidateSeconds: 0,
        negativeCacheSeconds: 0,
        formatModifiers: [],
        queryable: false,
        infoFormats: [],
        fullWms: false,
        resampling: STANDARD_RESAMPLING,
        formatsTogether: false,
        expireClientSeconds: atEveryZoom(0),
        staleClientSeconds: 0,
        secured: false,
        jobs: STANDARD_LAYER_JOBS,
      };
    }),
  );
}
