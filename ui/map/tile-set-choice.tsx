import { Choice } from "../components/fields/choice.tsx";
import { CommittedField } from "../components/fields/committed-field.tsx";
import { filtersOf, formatsOf } from "../core/model/layer.ts";
import { setQuery } from "../core/page/router.ts";
import type { Doc } from "../core/server/api.ts";
import { t } from "../core/text/i18n.ts";
import { parametersWith, type TileSet } from "./tile-set.ts";

interface GridSetAndFormatProps extends Pick<TileSet, "subset" | "format"> {
  readonly layer: Doc<"Layer">;
  readonly label: string;
}

/** Controls to choose a grid set and a format of a layer. The address stores the choices. */
export const GridSetAndFormat = ({ layer, subset, format, label }: GridSetAndFormatProps) => (
  <>
    <Choice
      label={label}
      value={subset.gridSet}
      values={layer.gridSubsets.map(({ gridSet }) => gridSet)}
      // A position on the map, a level and a tile belong to one grid set, so they are removed.
      onChoose={(gridSet) => setQuery({ gridSet, at: undefined, z: undefined, tile: undefined })}
    />
    <Choice
      label={t("field.format")}
      value={format}
      values={formatsOf(layer)}
      onChoose={(chosen) => setQuery({ format: chosen })}
    />
  </>
);

/** Controls to choose the tile set of a view. The address stores the choice in its query; see `tileSetOfQuery`. */
export function TileSetChoice({ layer, tileSet }: { readonly layer: Doc<"Layer">; readonly tileSet: TileSet }) {
  const { parameters } = tileSet;
  return (
    <div class="fields">
      <GridSetAndFormat layer={layer} {...tileSet} label={t("map.gridSet")} />
      {filtersOf(layer).map(({ key, default: standard, values = [] }) => {
        const field = { label: key, value: parameters[key] ?? standard };
        const take = (value: string): void => setQuery({ parameters: parametersWith(layer, tileSet, key, value) });
        return values.length === 0 ? (
          <CommittedField key={key} {...field} onCommit={take} />
        ) : (
          <Choice
            key={key}
            {...field}
            values={[...new Set([standard, ...values])]}
            textOf={(one) => one || t("map.defaultValue")}
            onChoose={take}
          />
        );
      })}
    </div>
  );
}
