import { Link } from "../../components/link.tsx";
import { Field } from "../../components/parts.tsx";
import { queryOf } from "../../core/api.ts";
import { count } from "../../core/format.ts";
import { t } from "../../core/i18n.ts";
import { useDocument } from "../../core/resource.ts";
import { pathOf } from "../../core/router.ts";
import { type Choice, parameterSets, SCOPES, setText } from "./scope.ts";

interface ScopeProps {
  readonly choice: Choice;
  readonly change: (part: Partial<Choice>) => void;
}

/** The fields that choose a layer, what is truncated of it, and what happens to the tiles. */
export function ScopeFields({ choice, change }: ScopeProps) {
  const { layer, scope } = choice;
  const layers = useDocument("Usage", "usage").data?.layers ?? [];
  return (
    <>
      <Field label={t("truncations.layer")}>
        {({ id }) => (
          <select
            id={id}
            required
            value={layer}
            onChange={({ currentTarget }) => change({ layer: currentTarget.value, parameters: undefined })}
          >
            <option value="" />
            {layers.map((one) => (
              <option key={one.layer}>{one.layer}</option>
            ))}
          </select>
        )}
      </Field>
      <fieldset class="field">
        <legend>{t("truncations.scope")}</legend>
        {SCOPES.map((one) => (
          <label key={one} class="choice">
            <input type="radio" name="scope" checked={scope === one} onChange={() => change({ scope: one })} />
            {t(`truncations.scope.${one}`)}
          </label>
        ))}
        {layer !== "" && (
          <small>
            <Link to={`/new${queryOf({ layer, type: "truncate", part: 1 })}`}>{t("truncations.scope.part")}</Link>
          </small>
        )}
      </fieldset>
      {scope === "truncateParameters" && layer !== "" && <ParametersField choice={choice} change={change} />}
      {scope === "truncateLayer" && <ModeField choice={choice} change={change} />}
    </>
  );
}

/** Chooses one of the combinations of parameters of which tiles are stored. */
function ParametersField({ choice: { layer, parameters }, change }: ScopeProps) {
  const usage = useDocument("Usage", `usage${queryOf({ by: "tileSet", layer })}`);
  const filters = useDocument("Layer", pathOf("layers", layer).slice(1));
  if (usage.data === undefined || filters.data === undefined) return null;
  const sets = parameterSets(usage.data.tileSets ?? [], filters.data.parameters);
  if (sets.length === 0) return <p class="soft">{t("truncations.noSets")}</p>;
  return (
    <Field label={t("truncations.set")}>
      {({ id }) => (
        <select
          id={id}
          required
          value={parameters === undefined ? "" : setText(parameters)}
          onChange={({ currentTarget: { value } }) =>
            change({ parameters: sets.find(({ text }) => text === value)?.parameters })
          }
        >
          <option value="" />
          {sets.map(({ text, isDefault, tiles }) => (
            <option key={text} value={text}>
              {t(isDefault ? "truncations.setDefault" : "truncations.setOf", { set: text, tiles: count(tiles) })}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** Chooses whether the tiles of the whole layer are removed, or become stale. */
const ModeField = ({ choice: { mode }, change }: ScopeProps) => (
  <fieldset class="field">
    <legend>{t("truncations.mode")}</legend>
    {(["hard", "soft"] as const).map((one) => (
      <label key={one} class="choice">
        <input type="radio" name="mode" checked={mode === one} onChange={() => change({ mode: one })} />
        {t(`truncations.mode.${one}`)}
      </label>
    ))}
  </fieldset>
);
