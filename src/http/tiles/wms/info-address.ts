import type { TileRequest } from "../../../cache/tile-reader.ts";
import type { UpstreamQuestion } from "../../../cache/upstream-question.ts";
import { tileExtent } from "../../../grid/grid-set.ts";
import { allValues } from "../../../layer/filter/parameter-filter.ts";
import { INFO_FORMATS, type Layer } from "../../../layer/layer.ts";
import { badField, type Refusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import type { FeatureInfoRequest } from "../../../source/source.ts";
import type { Query } from "../../query.ts";

/** Returns whether a layer supports GetFeatureInfo: its source is a WMS. */
export const hasFeatureInfo = (layer: Layer): boolean => layer.source.type === "wms";

/**
 * Returns whether capabilities declare a layer queryable. As in GWC, a layer that is not declared queryable answers
 * queries all the same.
 */
export const isQueryable = (layer: Layer): boolean => layer.queryable && hasFeatureInfo(layer);

/** The MIME types in which map servers describe features. A layer may list further types. */
const KNOWN_TYPE =
  /^(?:text\/(?:plain|html|xml|csv|css|javascript|json)|application\/(?:json|xml|javascript|x-javascript|gml|(?:vnd\.|x-)[\w.+-]+|[\w.-]+\+(?:json|xml))|image\/(?:png|jpeg|gif|webp|svg\+xml))$/i;

/**
 * Parses the format of GetFeatureInfo: one that the layer lists, or another MIME type that map servers use. Keeps its
 * parameters, such as in `text/xml; subtype=gml/3.1.1`.
 */
export function parseInfoFormat(
  field: string,
  text: string,
  { infoFormats }: Pick<Layer, "infoFormats">,
): Result<string, Refusal> {
  const isWritten = text.length <= 256 && /^[\w.+-]{1,64}\/[\w.+-]{1,64}(?:; ?[\w.+-]+=[\w.+/-]+)*$/.test(text);
  const type = text.split(";")[0] ?? "";
  if (isWritten && (KNOWN_TYPE.test(type) || infoFormats.includes(text))) return ok(text);
  return refuse(badField(field, `a MIME type such as ${INFO_FORMATS.join(", ")}`, text));
}

/** Returns `FEATURE_COUNT`. Undefined, which means the upstream's default, if it is absent or invalid. */
export function featureCount(query: Query): number | undefined {
  const text = query.get("FEATURE_COUNT") ?? "";
  return /^[1-9]\d{0,3}$/.test(text) ? Number(text) : undefined;
}

/** Returns the GetFeatureInfo query for a pixel of a tile. */
export function infoOfTile(
  { layer, subset: { gridSet }, index, parameters }: TileRequest,
  at: Pick<FeatureInfoRequest, "i" | "j" | "infoFormat" | "featureCount">,
): UpstreamQuestion {
  return {
    layer,
    request: {
      kind: "feature_info",
      gridSet,
      extent: tileExtent(gridSet, index),
      width: gridSet.tileWidth,
      height: gridSet.tileHeight,
      parameters: allValues(layer.parameterFilters, parameters.values),
      ...at,
    },
  };
}
