import type { UpstreamQuestion } from "../../../cache/upstream-question.ts";
import { allValues } from "../../../layer/filter/parameter-filter.ts";
import type { Layer } from "../../../layer/layer.ts";
import { badField } from "../../../lib/refusal.ts";
import { ok, type Result } from "../../../lib/result.ts";
import type { Query } from "../../request/query.ts";
import type { ProtocolRefusal, QueryParser } from "../tile-parts.ts";
import { featureCount, hasFeatureInfo, parseInfoFormat } from "./info-address.ts";
import { divideQuery, findLayers, layerNamesIn, refuseTooMany } from "./layer-list.ts";
import { parseBox, parseCrs, parseFilters, parseSize, withCode } from "./map-parts.ts";
import { wmsVersion } from "./wms-version.ts";

/**
 * Parses GetFeatureInfo of any box and size. Each layer's question goes to its upstream in the CRS of a grid set. The
 * style of a layer is the one at its position in LAYERS.
 */
export const parseGetFeatureInfo: QueryParser = (catalogue, query) => {
  const text = query.get("QUERY_LAYERS") ?? query.get("LAYERS") ?? "";
  const layers = findLayers(catalogue, text);
  if (!layers.ok) return layers;
  const tooMany = refuseTooMany("QUERY_LAYERS", layers.value);
  if (tooMany !== undefined) return tooMany;
  const names = layerNamesIn(catalogue, query.get("LAYERS") ?? text);
  const queries = divideQuery(names, query);
  if (!queries.ok) return queries;
  const questions: UpstreamQuestion[] = [];
  for (const layer of layers.value) {
    const question = parseQuestion(layer, queries.value[Math.max(0, names.indexOf(layer.name))] ?? query);
    if (!question.ok) return question;
    questions.push(question.value);
  }
  const [first, ...others] = questions;
  if (first === undefined) throw new Error("a list of layers has a layer");
  return ok(others.length === 0 ? { kind: "info", query: first } : { kind: "infos", queries: [first, ...others] });
};

function parseQuestion(layer: Layer, query: Query): Result<UpstreamQuestion, ProtocolRefusal> {
  if (!hasFeatureInfo(layer))
    return withCode(badField("QUERY_LAYERS", "a layer that supports GetFeatureInfo", layer.name), "LayerNotQueryable");
  const subsets = parseCrs(layer, query);
  if (!subsets.ok) return subsets;
  const size = parseSize(query);
  if (!size.ok) return size;
  const box = parseBox(query.get("BBOX") ?? "", subsets.value.axes);
  if (!box.ok) return box;
  const pixel = (keys: readonly [string, string], side: number): Result<number, ProtocolRefusal> => {
    const text = query.get(keys[0]) ?? query.get(keys[1]) ?? "";
    if (/^\d{1,9}$/.test(text) && Number(text) < side) return ok(Number(text));
    return withCode(badField(keys[0], `a pixel from 0 to ${side - 1}`, text), "InvalidPoint");
  };
  const is13 = wmsVersion(query) === "1.3.0";
  const i = pixel(is13 ? ["I", "X"] : ["X", "I"], size.value.width);
  if (!i.ok) return i;
  const j = pixel(is13 ? ["J", "Y"] : ["Y", "J"], size.value.height);
  if (!j.ok) return j;
  const infoFormat = parseInfoFormat("INFO_FORMAT", query.get("INFO_FORMAT") ?? "text/plain", layer);
  if (!infoFormat.ok) return withCode(infoFormat.error, "InvalidFormat");
  const parameters = parseFilters(layer, query);
  if (!parameters.ok) return parameters;
  return ok({
    layer,
    request: {
      kind: "feature_info",
      gridSet: subsets.value.offered[0].gridSet,
      extent: box.value,
      ...size.value,
      i: i.value,
      j: j.value,
      infoFormat: infoFormat.value,
      featureCount: featureCount(query),
      parameters: allValues(layer.parameterFilters, parameters.value.values),
    },
  });
}
