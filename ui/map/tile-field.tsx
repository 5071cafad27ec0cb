import { useSignal } from "@preact/signals";
import { CommittedField } from "../components/committed-field.tsx";
import { t } from "../core/i18n.ts";
import { type GridSubset, isOffered, type TileAddress } from "./grid.ts";

interface TileFieldProps {
  readonly subset: GridSubset;
  readonly tile: TileAddress | undefined;
  readonly onChoose: (tile: TileAddress | undefined) => void;
}

export const tileName = ({ z, x, y }: TileAddress): string => `${z}/${x}/${y}`;

/** Parses the name of a tile, z/x/y with y from the top. Undefined if the text is not such a name. */
export function parseTile(text: string | null): TileAddress | undefined {
  const [, z, x, y] = /^\s*(\d{1,2})\/(\d{1,10})\/(\d{1,10})\s*$/.exec(text ?? "") ?? [];
  return z === undefined ? undefined : { z: Number(z), x: Number(x), y: Number(y) };
}

/** Chooses a tile by its address. It is the keyboard's equivalent of a click on the map. */
export function TileField({ subset, tile, onChoose }: TileFieldProps) {
  const error = useSignal<string | undefined>(undefined);
  const take = (text: string): void => {
    const found = parseTile(text);
    const isKnown = found !== undefined && isOffered(subset, found);
    error.value = text.trim() === "" || isKnown ? undefined : t("coverage.noTile");
    if (text.trim() === "" || isKnown) onChoose(found);
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
