import { Button } from "../../components/button.tsx";
import { Choice } from "../../components/fields/choice.tsx";
import { TextField } from "../../components/fields/text-field.tsx";
import { Field, Panel } from "../../components/parts.tsx";
import { TYPES } from "../../core/model/job-options.ts";
import { filtersOf, formatsOf } from "../../core/model/layer.ts";
import { type Doc, queryOf } from "../../core/server/api.ts";
import { useDocument } from "../../core/server/resource.ts";
import { t } from "../../core/text/i18n.ts";
import { choiceIn, errorOf, type FieldsProps, textIn } from "./fields.ts";

const LEVELS = ["zoomStart", "zoomStop"] as const;
const MOST_LISTED = 50;

/**
 * The fields of the job of each run. The layer determines the choices. Several layers, or a pattern, offer no choices.
 */
export function JobFields(fields: FieldsProps) {
  const { draft, change, errors } = fields;
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
          values={TYPES}
          textOf={(type) => t(`type.${type}`)}
          {...choiceIn(fields, "type", "job.type")}
        />
        <Choice
          label={t("field.gridSet")}
          values={choices(
            layer?.gridSubsets.map(({ gridSet }) => gridSet),
            draft.gridSet,
          )}
          textOf={choiceText}
          {...choiceIn(fields, "gridSet", "job.gridSet", "job.gridSets")}
        />
        <Choice
          label={t("field.format")}
          values={choices(layer && formatsOf(layer), draft.format)}
          textOf={choiceText}
          {...choiceIn(fields, "format", "job.format", "job.formats")}
        />
      </div>
      <Limits layer={layer} {...fields} />
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
function Limits({ layer, ...fields }: LayerFieldsProps) {
  const { draft } = fields;
  const subset = layer?.gridSubsets.find(({ gridSet }) => gridSet === (draft.gridSet || layer.defaultGridSet));
  return (
    <div class="fields">
      {LEVELS.map((end) => (
        <TextField
          key={end}
          label={t(`schedules.${end}`)}
          type="number"
          min={0}
          placeholder={subset === undefined ? "" : String(subset[end])}
          {...textIn(fields, end, `job.${end}`)}
        />
      ))}
      <TextField
        label={t("field.bounds")}
        hint={t("schedules.boundsHint")}
        inputMode="decimal"
        {...textIn(fields, "bounds", "job.bounds")}
      />
      <Parameters layer={layer} {...fields} />
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
    <p class="row kept">
      {t(`schedules.limited.${limit}`)}
      <Button label={t("schedules.wholeLayer")} class="quiet small" onPress={() => change({ kept: {} })} />
    </p>
  );
}
