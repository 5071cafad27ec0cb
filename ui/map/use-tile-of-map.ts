import { useEffect, useRef } from "preact/hooks";
import type { TileAddress } from "./grid.ts";
import type { MapSurface } from "./map-surface.ts";

/** Marks the chosen tile on the map, and calls `choose` with the position of each click. */
export function useTileOfMap(
  surface: MapSurface | undefined,
  tile: TileAddress | undefined,
  choose: (at: readonly [number, number]) => void,
): void {
  const latest = useRef(choose);
  latest.current = choose;
  const name = tile && `${tile.z}/${tile.x}/${tile.y}`;
  useEffect(() => surface?.onClick(({ at }) => latest.current(at)), [surface]);
  useEffect(() => surface?.setMark(tile), [surface, name]);
}
