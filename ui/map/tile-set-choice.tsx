import { Choice } from "../components/choice.tsx";
import { CommittedField } from "../components/committed-field.tsx";
import type { Doc } from "../core/api.ts";
import { t } from "../core/i18n.ts";
import { filtersOf, formatsOf } from "../core/layer.ts";
import { setQuery } from "../core/router.ts";
import { parametersWith, type TileSet } from "./tile-set.ts";

/** Controls to choose the tile set of a view. The address stores the choice in its query; see `tileSetOfQuery`. */
export function TileSetChoice({ layer, tileSet }: { readonly layer: Doc<"Layer">; readonly tileSet: TileSet }) {
  const { subset, format, parameters } = tileSet;
  return (
    <div class="fields">
      <Choice
        label={t("map.gridSet")}
        value={subset.gridSet}
        values={layer.gridSubsets.map(({ gridSet }) => gridSet)}
        // A position on the map and a level belong to one grid set, so they are removed.
        onChoose={(gridSet) => setQuery({ gridSet, at: undefined, z: undefined, tile: undefined })}
      />
      <Choice
        label={t("field.format")}
        value={format}
        values={formatsOf(layer)}
        onChoose={(chosen) => setQuery({ format: chosen })}
      />
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
