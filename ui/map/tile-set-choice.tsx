import { CommittedInput } from "../components/committed-input.tsx";
import { Field } from "../components/parts.tsx";
import type { Doc } from "../core/api.ts";
import { t } from "../core/i18n.ts";
import { setQuery } from "../core/router.ts";
import { parametersWith, type TileSet } from "./tile-set.ts";

/** Controls that choose the tile set of a view. The choice stands in the query of the address; see `tileSetOf`. */
export function TileSetChoice({ layer, tileSet }: { readonly layer: Doc<"Layer">; readonly tileSet: TileSet }) {
  const { subset, format, parameters } = tileSet;
  return (
    <div class="fields">
      <Choice
        label={t("map.gridSet")}
        value={subset.gridSet}
        values={layer.gridSubsets.map(({ gridSet }) => gridSet)}
        // A place on the map and a level are those of one grid set.
        onChoose={(gridSet) => setQuery({ gridSet, at: undefined, z: undefined, tile: undefined })}
      />
      <Choice
        label={t("map.format")}
        value={format}
        values={layer.formats}
        onChoose={(chosen) => setQuery({ format: chosen })}
      />
      {layer.parameters.map(({ key, default: standard, values = [] }) => (
        <Choice
          key={key}
          label={key}
          value={parameters[key] ?? standard}
          values={values.length === 0 ? undefined : [...new Set([standard, ...values.map(String)])]}
          onChoose={(value) => setQuery({ parameters: parametersWith(layer, tileSet, key, value) })}
        />
      ))}
    </div>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  /** undefined: any text. */
  readonly values: readonly string[] | undefined;
  readonly onChoose: (value: string) => void;
}

function Choice({ label, value, values, onChoose }: ChoiceProps) {
  return (
    <Field label={label}>
      {({ id }) =>
        values === undefined ? (
          <CommittedInput id={id} value={value} onCommit={onChoose} />
        ) : (
          <select id={id} value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
            {values.map((one) => (
              <option key={one} value={one}>
                {one === "" ? t("map.defaultValue") : one}
              </option>
            ))}
          </select>
        )
      }
    </Field>
  );
}
