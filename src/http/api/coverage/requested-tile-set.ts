import type * as z from "zod";
import { type Parameters, parseParameters } from "../../../layer/filter/parameter-filter.ts";
import { formatOf, type TileFormat } from "../../../layer/format.ts";
import type { GridSubset } from "../../../layer/grid-subset.ts";
import { defaultSubset, findSubset } from "../../../layer/layer.ts";
import type { TileSet } from "../../../layer/tile-set.ts";
import { text } from "../../../lib/document-fields.ts";
import { badField, type Refusal, unknownLayer } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import type { Exchange } from "../../resource.ts";

/** The query fields that select a tile set. */
export const tileSetFields = {
  layer: text.meta({ description: "The layer. Further keys of the query are its parameters, such as STYLES" }),
  gridSet: text.exactOptional().meta({ description: "Absent: EPSG:900913 if the layer has it, else its first" }),
  format: text.exactOptional().meta({ description: "Absent: the layer's first" }),
};
/** A requested tile set, with the parts of its layer. */
export interface RequestedTileSet {
  readonly tileSet: TileSet;
  readonly subset: GridSubset;
  readonly format: TileFormat;
  readonly parameters: Parameters;
}

/** Returns the tile set that a query selects. Keys that are not in the schema are parameters of the layer. */
export function selectTileSet(
  given: z.output<z.ZodObject<typeof tileSetFields>>,
  { shape }: { readonly shape: object },
  { query, catalogue }: Exchange,
): Result<RequestedTileSet, Refusal> {
  const layer = catalogue.layers.get(given.layer);
  if (layer === undefined) return refuse(unknownLayer(given.layer, catalogue.layers));
  const subset = given.gridSet === undefined ? defaultSubset(layer) : findSubset(layer, given.gridSet);
  if (subset === undefined) {
    const known = layer.gridSubsets.map(({ gridSet }) => gridSet.id).join(", ");
    return refuse(badField("gridSet", `a grid set of the layer: ${known}`, given.gridSet));
  }
  const formats = layer.formats.map(({ mimeType }) => mimeType);
  const name = given.format ?? formats[0] ?? "";
  const requested = formatOf(name)?.mimeType;
  const format = layer.formats.find(({ mimeType }) => mimeType === requested);
  if (format === undefined) return refuse(badField("format", `a format of the layer: ${formats.join(", ")}`, name));
  const others = new Map([...query].filter(([key]) => !(key in shape)));
  const parameters = parseParameters(layer.parameterFilters, others, "refuse");
  if (!parameters.ok) return parameters;
  const tileSet = {
    layer: layer.name,
    gridSet: subset.gridSet.id,
    format: format.mimeType,
    parametersId: parameters.value.id,
  };
  return ok({ subset, tileSet, format, parameters: parameters.value });
}
