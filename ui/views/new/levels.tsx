import { Choice } from "../../components/fields/choice.tsx";
import { setQuery } from "../../core/page/router.ts";
import { count } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";
import { type GridSubset, levelName, offeredLevels } from "../../map/grid.ts";
import type { Draft } from "./draft.ts";

/** The first and the last level of the job. Each choice shows the scale and the layer's number of tiles. */
export function Levels({ subset, draft }: { readonly subset: GridSubset; readonly draft: Draft }) {
  const { zoomStart, zoomStop } = draft;
  const levels = {
    values: offeredLevels(subset).map(({ z }) => z),
    textOf: (z: number): string => levelText(subset, z),
  };
  return (
    <fieldset class="step">
      <legend>{t("field.zooms")}</legend>
      <div class="fields">
        <Choice
          {...levels}
          label={t("newJob.from")}
          value={zoomStart}
          onChoose={(z) => setQuery({ zoomStart: String(z), zoomStop: String(Math.max(z, zoomStop)) })}
        />
        <Choice
          {...levels}
          label={t("newJob.to")}
          value={zoomStop}
          onChoose={(z) => setQuery({ zoomStart: String(Math.min(z, zoomStart)), zoomStop: String(z) })}
        />
      </div>
    </fieldset>
  );
}

function levelText(subset: GridSubset, z: number): string {
  const level = subset.levels[z];
  if (level === undefined) return "";
  return t("newJob.levelOption", {
    z: levelName(subset, z),
    scale: count(Math.round(level.scaleDenominator)),
    tiles: count(level.tiles),
  });
}
