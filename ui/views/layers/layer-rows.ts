import type { Doc } from "../../core/server/api.ts";
import type { LayerSummary } from "./layer-list.ts";

export type LayerUsage = Doc<"Usage">["layers"][number];
/** The usage of the layers by name. */
export type UsageByLayer = ReadonlyMap<string, LayerUsage>;

export interface RowFilter {
  /** A part of the name or the title. It is not case-sensitive. */
  readonly text: string;
  /** The id of an upstream. Empty for all upstreams. */
  readonly upstream: string;
}

export const SORT_KEYS = ["name", "tiles", "size"] as const;
export type SortKey = (typeof SORT_KEYS)[number];
/** "size" sorts in ascending order, "-size" in descending order. */
export type Sort = SortKey | `-${SortKey}`;

export const isSort = (text: string): text is Sort => SORT_KEYS.some((key) => text === key || text === `-${key}`);
export const sortKey = (sort: Sort): SortKey => SORT_KEYS.find((key) => sort.endsWith(key)) ?? "name";

/** Returns the layers that match a filter, sorted. Equal layers are sorted by name. */
export function layerRows(
  layers: readonly LayerSummary[],
  { text, upstream }: RowFilter,
  sort: Sort,
  usage: UsageByLayer,
): LayerSummary[] {
  const sought = text.toLowerCase();
  const rows = layers.filter(
    (one) =>
      (upstream === "" || one.upstream === upstream) &&
      (sought === "" || one.name.toLowerCase().includes(sought) || one.title.toLowerCase().includes(sought)),
  );
  const sign = sort.startsWith("-") ? -1 : 1;
  const key = sortKey(sort);
  // Comparing code units is ten times faster than Intl.Collator, which matters for 10,000 layers.
  const byName = (a: LayerSummary, b: LayerSummary): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
  if (key === "name") return rows.sort((a, b) => sign * byName(a, b));
  const number = ({ name }: LayerSummary): number => {
    const use = usage.get(name);
    return Number((key === "tiles" ? use?.tiles : use?.bytes) ?? 0);
  };
  return rows.sort((a, b) => sign * (number(a) - number(b)) || byName(a, b));
}
