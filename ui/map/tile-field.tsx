import { useSignal } from "@preact/signals";
import { CommittedField } from "../components/fields/committed-field.tsx";
import { setQuery } from "../core/page/router.ts";
import { t } from "../core/text/i18n.ts";
import { type GridSubset, isOffered, parseTile, type TileAddress, tileBox, tileName } from "./grid.ts";
import type { MapSurface } from "./map-surface.ts";

interface TileFieldProps {
  readonly subset: GridSubset;
  readonly tile: TileAddress | undefined;
  /** The map, which shows a chosen tile. */
  readonly surface: MapSurface | undefined;
}

/** Chooses a tile by its address. It is the keyboard's equivalent of a click on the map. */
export function TileField({ subset, tile, surface }: TileFieldProps) {
  const error = useSignal<string | undefined>(undefined);
  const take = (text: string): void => {
    const found = parseTile(text);
    const isKnown = found !== undefined && isOffered(subset, found);
    error.value = text.trim() === "" || isKnown ? undefined : t("coverage.noTile");
    if (text.trim() !== "" && !isKnown) return;
    setQuery({ tile: found && tileName(found) });
    if (found !== undefined) surface?.fit(tileBox(subset, found));
  };
  return (
    <CommittedField
      label={t("coverage.tileField")}
      hint={t("coverage.tileField.hint")}
      error={error.value}
      value={tile === undefined ? "" : tileName(tile)}
      placeholder="z/x/y"
      onCommit={take}
    />
  );
}
