import { Field } from "../../components/parts.tsx";
import { count } from "../../core/format.ts";
import { t } from "../../core/i18n.ts";
import { setQuery } from "../../core/router.ts";
import { type GridSubset, levelName, offeredLevels } from "../../map/grid.ts";
import type { Draft } from "./draft.ts";

/** The levels of the job, both included. Each has its scale and the tiles that the layer has of it. */
export function Levels({ subset, draft }: { readonly subset: GridSubset; readonly draft: Draft }) {
  const { zoomStart, zoomStop } = draft;
  return (
    <fieldset class="step">
      <legend>{t("newJob.levels")}</legend>
      <div class="fields">
        <LevelChoice
          label={t("newJob.from")}
          subset={subset}
          value={zoomStart}
          onChoose={(z) => setQuery({ zoomStart: String(z), zoomStop: String(Math.max(z, zoomStop)) })}
        />
        <LevelChoice
          label={t("newJob.to")}
          subset={subset}
          value={zoomStop}
          onChoose={(z) => setQuery({ zoomStart: String(Math.min(z, zoomStart)), zoomStop: String(z) })}
        />
      </div>
    </fieldset>
  );
}

interface LevelChoiceProps {
  readonly label: string;
  readonly subset: GridSubset;
  readonly value: number;
  readonly onChoose: (z: number) => void;
}

function LevelChoice({ label, subset, value, onChoose }: LevelChoiceProps) {
  return (
    <Field label={label}>
      {({ id }) => (
        <select id={id} value={value} onChange={(event) => onChoose(Number(event.currentTarget.value))}>
          {offeredLevels(subset).map(({ z, scaleDenominator, tiles }) => (
            <option key={z} value={z}>
              {t("newJob.levelOption", {
                z: levelName(subset, z),
                scale: count(Math.round(scaleDenominator)),
                tiles: count(tiles),
              })}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
