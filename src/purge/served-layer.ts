import { hash } from "node:crypto";
import { type Catalogue, composesMaps } from "../layer/catalogue.ts";
import { isDimension, type ParameterFilter } from "../layer/filter/parameter-filter.ts";
import type { Layer } from "../layer/layer.ts";
import { encodingOptions } from "../layer/picture/encoding.ts";

/** The facts about a layer that decide whether copies of its tiles may still be served. */
interface ServedLayer {
  /** The rights that clients without credentials have. */
  readonly rights: readonly string[];
  readonly formats: readonly string[];
  /** By key, a digest of a grid subset, of a parameter filter, or of another property. */
  readonly properties: Readonly<Record<string, string>>;
}

const digest = (value: unknown): string => hash("sha256", JSON.stringify(value) ?? "", "base64url").slice(0, 12);

/** The most values of a filter that are listed. A longer list is one property. */
const MOST_VALUES = 1000;

/** Returns the properties of a filter: one for each value, so that an added value changes none. */
function filterProperties(filter: ParameterFilter): readonly (readonly [string, string])[] {
  // The values of a dimension follow the upstream, and copies with an old value stay right.
  if (isDimension(filter.key)) return [];
  if (!("values" in filter) || filter.values.length > MOST_VALUES) return [[`filter ${filter.key}`, digest(filter)]];
  const { values, ...plain } = filter;
  return [
    [`filter ${filter.key}`, digest(plain)],
    ...values.map((value) => [`value ${filter.key} ${digest(value)}`, ""] as const),
  ];
}

/** Returns a text of what a layer serves, for `wereLost`. */
export function servedText(layer: Layer, catalogue: Pick<Catalogue, "service">): string {
  const { source, requestFilters, expireClientSeconds, expireCdnSeconds, staleClientSeconds } = layer;
  const served: ServedLayer = {
    rights: [
      ...(layer.enabled ? ["tiles"] : []),
      ...(layer.secured ? [] : ["public"]),
      ...(composesMaps(catalogue, layer) ? ["maps"] : []),
    ],
    formats: layer.formats.map(({ mimeType }) => mimeType),
    properties: Object.fromEntries([
      ...layer.gridSubsets.map(({ gridSet, extent, zoomStart, zoomStop }) => [
        `grid set ${gridSet.id}`,
        digest([extent, zoomStart, zoomStop]),
      ]),
      ...layer.parameterFilters.flatMap(filterProperties),
      ["request filters", digest(requestFilters)],
      ["lifetimes", digest([expireClientSeconds, expireCdnSeconds, staleClientSeconds])],
      // A layer that is no group serves its stored tiles, whatever its source is.
      ["parts", source.type === "group" ? digest([source.layers, encodingOptions(layer)]) : ""],
    ]),
  };
  return JSON.stringify(served);
}

/** Returns whether some copies that were made under one definition of a layer are outdated under another. */
export function wereLost(before: string, now: string): boolean {
  // Only `servedText` writes such texts, so no check is needed.
  const [old, next] = [JSON.parse(before) as ServedLayer, JSON.parse(now) as ServedLayer];
  return (
    old.rights.some((right) => !next.rights.includes(right)) ||
    old.formats.some((format) => !next.formats.includes(format)) ||
    Object.entries(old.properties).some(([key, value]) => next.properties[key] !== value) ||
    // A new filter selects another tile at the same address.
    Object.keys(next.properties).some((key) => key.startsWith("filter ") && !(key in old.properties))
  );
}
