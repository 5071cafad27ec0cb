import type { TileChange } from "../../../src/coordinator/coverage/tile-changes.ts";
import { listenWhileVisible } from "./event-stream.ts";
import { parseJson } from "./json.ts";

/**
 * Receives changes of a layer's tiles while the page is visible, until the returned function is called. `missed` is called
 * when changes may have been missed.
 */
export function listenToTiles(
  layer: string,
  changed: (changes: readonly TileChange[]) => void,
  missed: () => void,
): () => void {
  let isFirst = true;
  return listenWhileVisible({
    query: () => new URLSearchParams({ types: "tiles", layer }),
    kinds: ["tiles"],
    take: (_, { data }) => changed(parseJson<{ changes: readonly TileChange[] }>(data).changes),
    changed(isOpen) {
      if (isOpen && !isFirst) missed();
      isFirst = false;
    },
  });
}
