import type { Catalogue } from "../../../layer/catalogue.ts";
import { isDimension } from "../../../layer/filter/parameter-filter.ts";
import type { Layer } from "../../../layer/layer.ts";
import { badField } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import type { Query } from "../../request/query.ts";
import { findLayer, type ProtocolRefusal, type Refused } from "../tile-parts.ts";
import { withCode } from "./map-parts.ts";
import { LAYER_LIMIT } from "./wms-capabilities.ts";

/** Splits names of layers at commas, unless the whole text is the name of a layer. */
export const layerNamesIn = ({ layers }: Catalogue, text: string): readonly string[] =>
  layers.has(text) ? [text] : text.split(",");

/** Finds the layers of a list. Refuses an unknown name. */
export function findLayers(catalogue: Catalogue, text: string): Result<readonly [Layer, ...Layer[]], ProtocolRefusal> {
  const found: Layer[] = [];
  for (const name of layerNamesIn(catalogue, text)) {
    const layer = findLayer(catalogue, name);
    if (!layer.ok) return withCode(layer.error, "LayerNotDefined");
    found.push(layer.value);
  }
  const [first, ...others] = found;
  if (first === undefined) throw new Error("splitting a text gives a part");
  return ok([first, ...others]);
}

/** Refuses a list of more layers than one request may have. */
export const refuseTooMany = (key: string, { length }: readonly Layer[]): Refused | undefined =>
  length > LAYER_LIMIT ? refuse(badField(key, `at most ${LAYER_LIMIT} layers`, String(length))) : undefined;

/**
 * Divides the query of several layers: each gets the style at its position (OGC 06-042, 7.3.3.4), and the value of a
 * dimension at its position if there are as many values as layers. All other parameters are the same for all layers.
 */
export function divideQuery(names: readonly string[], query: Query): Result<readonly Query[], ProtocolRefusal> {
  const { length } = names;
  if (length === 1) return ok([query]);
  const text = query.get("STYLES") ?? "";
  const styles = text.split(",");
  const isDefault = styles.every((style) => style === "");
  const surplus = styles.slice(length).some((style) => style !== "");
  if (!isDefault && (styles.length < length || surplus))
    return withCode(badField("STYLES", `${length} styles, one for each layer`, text), "StyleNotDefined");
  return ok(
    names.map((_, position) => {
      const own = new Map(query);
      own.set("STYLES", isDefault ? "" : (styles[position] ?? ""));
      for (const [key, value] of query) {
        const values = isDimension(key) ? value.split(",") : [];
        if (values.length === length) own.set(key, values[position] ?? "");
      }
      return own;
    }),
  );
}
