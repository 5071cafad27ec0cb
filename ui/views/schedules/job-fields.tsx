import { Choice } from "../../components/choice.tsx";
import { Field, Panel } from "../../components/parts.tsx";
import { TextField } from "../../components/text-field.tsx";
import { type Doc, queryOf } from "../../core/api.ts";
import { t } from "../../core/i18n.ts";
import { TYPES } from "../../core/job-options.ts";
import { filtersOf, formatsOf } from "../../core/layer.ts";
import { useDocument } from "../../core/resource.ts";
import { errorOf } from "./field-errors.ts";
import type { FieldsProps } from "./time-fields.tsx";

const LEVELS = ["zoomStart", "zoomStop"] as const;
const MOST_LISTED = 50;

/**
 * The fields of the job of each run. The layer determines the choices. Several layers, or a pattern, offer no choices.
 */
export function JobFields({ draft, change, errors }: FieldsProps) {
  const name = draft.layer.trim();
  const found = useDocument("LayerSummaries", `layers${queryOf({ fields: "summary", limit: MOST_LISTED, q: name })}`);
  const layers = found.data?.layers ?? [];
  const isKnown = layers.some((one) => one.name === name);
  const layer = useDocument("Layer", isKnown ? `layers/${encodeURIComponent(name)}` : undefined).data;
  return (
    <Panel title={t("schedules.what")}>
      <div class="fields">
        <TextField
          label={t("field.layer")}
          hint={t("schedules.layerHint")}
          error={errorOf(errors, "job.layer", "job.layers")}
          offered={layers}
          autocomplete="off"
          required
          value={draft.layer}
          onInput={(value) => change({ layer: value, parameters: {} })}
        />
        <Choice
          label={t("field.type")}
          error={errorOf(errors, "job.type")}
          value={draft.type}
          values={TYPES}
          textOf={(type) => t(`type.${type}`)}
          onChoose={(type) => change({ type })}
        />
        <Choice
          label={t("field.gridSet")}
          error={errorOf(errors, "job.gridSet", "job.gridSets")}
          value={draft.gridSet}
          values={choices(
            layer?.gridSubsets.map(({ gridSet }) => gridSet),
            draft.gridSet,
          )}
          textOf={choiceText}
          onChoose={(gridSet) => change({ gridSet })}
        />
        <Choice
          label={t("field.format")}
          error={errorOf(errors, "job.format", "job.formats")}
          value={draft.format}
          values={choices(layer && formatsOf(layer), draft.format)}
          textOf={choiceText}
          onChoose={(format) => change({ format })}
        />
      </div>
      <Limits layer={layer} draft={draft} change={change} errors={errors} />
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

/**
 * Returns the choices of a field: the layer's default, all, and each value. Also includes a present value that the
 * layer lacks.
 */
const choices = (own: readonly string[] | undefined, value: string): readonly string[] => [
  ...new Set(["", "*", ...(own ?? []), value]),
];

const choiceText = (value: string): string =>
  value === "" ? t("schedules.standard") : value === "*" ? t("schedules.every") : value;

type LayerFieldsProps = FieldsProps & { readonly layer: Doc<"Layer"> | undefined };

/** The levels, the box and the parameters of the job. */
function Limits({ layer, draft, change, errors }: LayerFieldsProps) {
  const subset = layer?.gridSubsets.find(({ gridSet }) => gridSet === (draft.gridSet || layer.defaultGridSet));
  return (
    <div class="fields">
      {LEVELS.map((end) => (
        <TextField
          key={end}
          label={t(`schedules.${end}`)}
          error={errorOf(errors, `job.${end}`)}
          type="number"
          min={0}
          placeholder={subset === undefined ? "" : String(subset[end])}
          value={draft[end]}
          onInput={(value) => change({ [end]: value })}
        />
      ))}
      <TextField
        label={t("field.bounds")}
        hint={t("schedules.boundsHint")}
        error={errorOf(errors, "job.bounds")}
        inputMode="decimal"
        value={draft.bounds}
        onInput={(bounds) => change({ bounds })}
      />
      <Parameters layer={layer} draft={draft} change={change} errors={errors} />
    </div>
  );
}

function Parameters({ layer, draft, change, errors }: LayerFieldsProps) {
  const set = (key: string, value: string): void => {
    const { [key]: _before, ...others } = draft.parameters;
    change({ parameters: value === "" ? others : { ...others, [key]: value } });
  };
  const known = new Map((layer === undefined ? [] : filtersOf(layer)).map((filter) => [filter.key, filter]));
  const keys = new Set([...known.keys(), ...Object.keys(draft.parameters)]);
  return (
    <>
      {[...keys].map((key) => (
        <TextField
          key={key}
          label={key}
          error={errorOf(errors, `job.parameters.${key}`)}
          offered={known.get(key)?.values ?? []}
          placeholder={known.get(key)?.default ?? ""}
          value={draft.parameters[key] ?? ""}
          onInput={(value) => set(key, value)}
        />
      ))}
    </>
  );
}

/** An area or a list of tiles of the job. The form can only remove it. */
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
