import { Choice } from "../../components/fields/choice.tsx";
import { Radios } from "../../components/fields/radios.tsx";
import { Link } from "../../components/link.tsx";
import { filtersOf } from "../../core/model/layer.ts";
import { pathOf } from "../../core/page/router.ts";
import { queryOf } from "../../core/server/api.ts";
import { useDocument } from "../../core/server/resource.ts";
import { count } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";
import { type ParameterSet, parameterSets, SCOPES, setText, type TruncationChoice } from "./scope.ts";

const MODES = ["hard", "soft"] as const;

interface ScopeProps {
  readonly choice: TruncationChoice;
  readonly change: (part: Partial<TruncationChoice>) => void;
}

/** The fields that choose a layer, the part of it to truncate, and the mode. */
export function ScopeFields({ choice, change }: ScopeProps) {
  const { layer, scope } = choice;
  const layers = useDocument("Usage", "usage").data?.layers ?? [];
  return (
    <>
      <Choice
        label={t("field.layer")}
        isRequired
        value={layer}
        values={["", ...layers.map((one) => one.layer)]}
        onChoose={(chosen) => change({ layer: chosen, parameters: undefined })}
      />
      <Radios
        label={t("truncations.scope")}
        name="scope"
        value={scope}
        values={SCOPES}
        textOf={(one) => t(`truncations.scope.${one}`)}
        onChoose={(one) => change({ scope: one })}
      >
        {layer !== "" && (
          <small>
            <Link to={`/new${queryOf({ layer, type: "truncate", part: 1 })}`}>{t("truncations.scope.part")}</Link>
          </small>
        )}
      </Radios>
      {scope === "truncateParameters" && layer !== "" && <ParametersField choice={choice} change={change} />}
      {scope === "truncateLayer" && <ModeField choice={choice} change={change} />}
    </>
  );
}

/** Chooses one of the stored combinations of parameters. */
function ParametersField({ choice: { layer, parameters }, change }: ScopeProps) {
  const usage = useDocument("Usage", `usage${queryOf({ by: "tileSet", layer })}`);
  const filters = useDocument("Layer", pathOf("layers", layer).slice(1));
  if (usage.data === undefined || filters.data === undefined) return null;
  const sets = parameterSets(usage.data.tileSets ?? [], filtersOf(filters.data));
  if (sets.length === 0) return <p class="soft">{t("truncations.noSets")}</p>;
  const setOf = (text: string) => sets.find((one) => one.text === text);
  return (
    <Choice
      label={t("truncations.set")}
      isRequired
      value={parameters === undefined ? "" : setText(parameters)}
      values={["", ...sets.map(({ text }) => text)]}
      textOf={(text) => optionText(setOf(text))}
      onChoose={(text) => change({ parameters: setOf(text)?.parameters })}
    />
  );
}

function optionText(set: ParameterSet | undefined): string {
  if (set === undefined) return "";
  const { text, isDefault, tiles } = set;
  return t(isDefault ? "truncations.setDefault" : "truncations.setOf", { set: text, tiles: count(tiles) });
}

/** Chooses whether the tiles of the whole layer are removed or become stale. */
const ModeField = ({ choice: { mode }, change }: ScopeProps) => (
  <Radios
    label={t("truncations.mode")}
    name="mode"
    value={mode}
    values={MODES}
    textOf={(one) => t(`truncations.mode.${one}`)}
    onChoose={(one) => change({ mode: one })}
  />
);
