import { useEffect, useState } from "preact/hooks";
import { count, decimal } from "../core/text/format.ts";
import { t } from "../core/text/i18n.ts";
import { type GridSubset, levelName, tileName } from "./grid.ts";
import type { MapPointer, MapPosition, MapSurface } from "./map-surface.ts";

interface MapBarProps {
  readonly surface: MapSurface | undefined;
  readonly subset: GridSubset;
  readonly failedTiles: number;
}

/** The line below a map: level, scale, and the position of the pointer, or without a pointer the centre of the map. */
export function MapBar({ surface, subset, failedTiles }: MapBarProps) {
  const [position, setPosition] = useState<MapPosition>();
  const [pointer, setPointer] = useState<MapPointer>();
  useEffect(() => {
    if (surface === undefined) return undefined;
    setPosition(surface.position());
    const stops = [surface.onMove(setPosition), surface.onPointer(setPointer)];
    return () => {
      for (const stop of stops) stop();
    };
  }, [surface]);
  if (position === undefined) return <div class="map-bar" />;
  const { z, resolution, centre } = position;
  const level = subset.levels[z];
  const scale = level === undefined ? undefined : (level.scaleDenominator * resolution) / level.resolution;
  return (
    <div class="map-bar number">
      <span>{t("map.level", { z: levelName(subset, z) })}</span>
      {scale !== undefined && <span>{`1 : ${count(Math.round(scale))}`}</span>}
      <span>
        <Coordinates at={pointer?.at ?? centre} resolution={resolution} />
      </span>
      <span>{pointer?.tile !== undefined && t("coverage.tile", { tile: tileName(pointer.tile) })}</span>
      <span role="status" class={failedTiles > 0 ? "bad-text" : undefined}>
        {failedTiles > 0 && t("map.failedTiles", { count: failedTiles })}
      </span>
    </div>
  );
}

function Coordinates({ at, resolution }: { readonly at: readonly [number, number]; readonly resolution: number }) {
  const digits = Math.min(9, Math.max(0, Math.ceil(-Math.log10(resolution)) + 1));
  return <>{at.map((one) => decimal(one, digits)).join("  ")}</>;
}
