import { useEffect, useRef } from "preact/hooks";
import { place, setQuery } from "../core/page/router.ts";
import { parseTile, type TileAddress, tileAt, tileName } from "./grid.ts";
import type { MapSurface } from "./map-surface.ts";

/**
 * Marks the tile in the address on the map, and writes the tile of each click into the address.
 * @param z the level of the clicked tile; undefined for the level that the map shows
 * @returns the tile in the address
 */
export function useTileOfMap(surface: MapSurface | undefined, z: number | undefined): TileAddress | undefined {
  const tile = parseTile(place.value.query.get("tile"));
  const level = useRef(z);
  level.current = z;
  useEffect(
    () =>
      surface?.onClick(({ at }) => {
        const found = tileAt(surface.subset, level.current ?? surface.position().z, at);
        setQuery({ tile: found && tileName(found) });
      }),
    [surface],
  );
  useEffect(() => surface?.setMark(tile), [surface, tile && tileName(tile)]);
  return tile;
}
