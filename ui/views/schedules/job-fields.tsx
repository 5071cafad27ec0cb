import { Field, Panel } from "../../components/parts.tsx";
import { type Doc, queryOf } from "../../core/api.ts";
import { t } from "../../core/i18n.ts";
import { useDocument } from "../../core/resource.ts";
import { errorOf } from "./field-errors.ts";
import type { FieldsProps } from "./time-fields.tsx";

const TYPES = ["seed", "reseed", "truncate"] as const;
const MOST_LISTED = 50;

/**
 * The fields of the job of each run. The choices are those of the layer; several layers, or a pattern, offer no
 * choices.
 */
export function JobFields({ draft, change, errors }: FieldsProps) {
  const name = draft.layer.trim();
  const found = useDocument("LayerSummaries", `layers${queryOf({ fields: "summary", limit: MOST_LISTED, q: name })}`);
  const layers = found.data?.layers ?? [];
  const isKnown = layers.some((one) => one.name === name);
  const layer = useDocument("Layer", isKnown ? `layers/${encodeURIComponent(name)}` : undefined).data;
  const subset = layer?.gridSubsets.find(({ gridSet }) => gridSet === (draft.gridSet || layer.defaultGridSet));
  return (
    <Panel title={t("schedules.what")}>
      <div class="fields">
        <Field
          label={t("field.layer")}
          hint={t("schedules.layerHint")}
          error={errorOf(errors, "job.layer", "job.layers")}
        >
          {({ id, describedBy }) => (
            <>
              <input
                id={id}
                aria-describedby={describedBy}
                list="schedule-layers"
                autocomplete="off"
                required
                value={draft.layer}
                onInput={({ currentTarget: { value } }) => change({ layer: value, parameters: {} })}
              />
              <datalist id="schedule-layers">
                {layers.map((one) => (
                  <option key={one.name} value={one.name}>
                    {one.title}
                  </option>
                ))}
              </datalist>
            </>
          )}
        </Field>
        <Choice
          label={t("field.type")}
          value={draft.type}
          values={TYPES.map((type) => [type, t(`type.${type}`)])}
          onChoose={(type) => change({ type })}
          error={errorOf(errors, "job.type")}
        />
        <Choice
          label={t("field.gridSet")}
          value={draft.gridSet}
          values={choices(
            layer?.gridSubsets.map(({ gridSet }) => gridSet),
            draft.gridSet,
          )}
          onChoose={(gridSet) => change({ gridSet })}
          error={errorOf(errors, "job.gridSet", "job.gridSets")}
        />
        <Choice
          label={t("field.format")}
          value={draft.format}
          values={choices(layer?.formats, draft.format)}
          onChoose={(format) => change({ format })}
          error={errorOf(errors, "job.format", "job.formats")}
        />
      </div>
      <div class="fields">
        <Level
          label={t("schedules.zoomStart")}
          value={draft.zoomStart}
          standard={subset?.zoomStart}
          onInput={(zoomStart) => change({ zoomStart })}
          error={errorOf(errors, "job.zoomStart")}
        />
        <Level
          label={t("schedules.zoomStop")}
          value={draft.zoomStop}
          standard={subset?.zoomStop}
          onInput={(zoomStop) => change({ zoomStop })}
          error={errorOf(errors, "job.zoomStop")}
        />
        <Field label={t("field.bounds")} hint={t("schedules.boundsHint")} error={errorOf(errors, "job.bounds")}>
          {({ id, describedBy }) => (
            <input
              id={id}
              aria-describedby={describedBy}
              inputMode="decimal"
              value={draft.bounds}
              onInput={({ currentTarget: { value } }) => change({ bounds: value })}
            />
          )}
        </Field>
        <Parameters layer={layer} draft={draft} change={change} errors={errors} />
      </div>
      <Kept draft={draft} change={change} />
      <details open={draft.more !== "" || errorOf(errors, "job.more") !== undefined}>
        <summary>{t("schedules.more")}</summary>
        <Field label={t("schedules.moreJson")} hint={t("schedules.moreHint")} error={errorOf(errors, "job.more")}>
          {({ id, describedBy }) => (
            <textarea
              id={id}
              class="code"
              rows={4}
              spellcheck={false}
              aria-describedby={describedBy}
              value={draft.more}
              onInput={({ currentTarget: { value } }) => change({ more: value })}
            />
          )}
        </Field>
      </details>
    </Panel>
  );
}

/** Returns the choices of a field: the layer's own, all, and each; a value that the layer lacks stays to be seen. */
function choices(own: readonly string[] | undefined, value: string): readonly (readonly [string, string])[] {
  const names = new Set([...(own ?? []), ...(value === "" || value === "*" ? [] : [value])]);
  return [
    ["", t("schedules.standard")],
    ["*", t("schedules.every")],
    ...[...names].map((name) => [name, name] as const),
  ];
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly values: readonly (readonly [value: string, text: string])[];
  readonly onChoose: (value: string) => void;
  readonly error: string | undefined;
}

function Choice({ label, value, values, onChoose, error }: ChoiceProps) {
  return (
    <Field label={label} error={error}>
      {({ id, describedBy }) => (
        <select
          id={id}
          aria-describedby={describedBy}
          value={value}
          onChange={({ currentTarget }) => onChoose(currentTarget.value)}
        >
          {values.map(([one, text]) => (
            <option key={one} value={one}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface LevelProps {
  readonly label: string;
  readonly value: string;
  /** The level of the layer, that an empty field means. */
  readonly standard: number | undefined;
  readonly onInput: (value: string) => void;
  readonly error: string | undefined;
}

function Level({ label, value, standard, onInput, error }: LevelProps) {
  return (
    <Field label={label} error={error}>
      {({ id, describedBy }) => (
        <input
          id={id}
          type="number"
          min={0}
          aria-describedby={describedBy}
          placeholder={standard === undefined ? "" : String(standard)}
          value={value}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
      )}
    </Field>
  );
}

function Parameters({ layer, draft, change, errors }: FieldsProps & { readonly layer: Doc<"Layer"> | undefined }) {
  const set = (key: string, value: string): void => {
    const { [key]: _before, ...others } = draft.parameters;
    change({ parameters: value === "" ? others : { ...others, [key]: value } });
  };
  const known = new Map((layer?.parameters ?? []).map((filter) => [filter.key, filter]));
  const keys = new Set([...known.keys(), ...Object.keys(draft.parameters)]);
  return (
    <>
      {[...keys].map((key) => {
        const values = (known.get(key)?.values ?? []).map(String);
        return (
          <Field key={key} label={key} error={errorOf(errors, `job.parameters.${key}`)}>
            {({ id, describedBy }) => (
              <>
                <input
                  id={id}
                  aria-describedby={describedBy}
                  list={`${id}-values`}
                  placeholder={known.get(key)?.default ?? ""}
                  value={draft.parameters[key] ?? ""}
                  onInput={({ currentTarget: { value } }) => set(key, value)}
                />
                <datalist id={`${id}-values`}>
                  {values.map((one) => (
                    <option key={one} value={one} />
                  ))}
                </datalist>
              </>
            )}
          </Field>
        );
      })}
    </>
  );
}

/** An area or a list of tiles that came with the job. The form can only remove it. */
function Kept({ draft: { kept }, change }: Pick<FieldsProps, "draft" | "change">) {
  const limit = kept["area"] !== undefined ? "area" : kept["tiles"] !== undefined ? "tiles" : undefined;
  if (limit === undefined) return null;
  return (
    <p class="kept">
      {t(`schedules.limited.${limit}`)}
      <button type="button" class="quiet small" onClick={() => change({ kept: {} })}>
        {t("schedules.wholeLayer")}
      </button>
    </p>
  );
}
