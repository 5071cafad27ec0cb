import { Choice } from "../../components/fields/choice.tsx";
import { CommittedField } from "../../components/fields/committed-field.tsx";
import { Field } from "../../components/parts.tsx";
import type { ParameterFilter } from "../../core/model/layer.ts";
import { t } from "../../core/text/i18n.ts";

interface ParameterFieldProps {
  readonly parameter: ParameterFilter;
  readonly value: string;
  readonly onChoose: (value: string) => void;
}

/** The least number of times or numbers that are shown as a slider. */
const SLIDER_VALUES = 3;

/** A control for one parameter of a layer: a list, a slider for times and numbers, or a text. */
export function ParameterField({ parameter, value, onChoose }: ParameterFieldProps) {
  const { key, regex, values } = parameter;
  if (values === undefined)
    return (
      // A field that commits complete values only, because each new value requests new tiles.
      <CommittedField
        label={key}
        hint={regex === undefined ? undefined : t("layers.pattern", { pattern: regex })}
        value={value}
        onCommit={onChoose}
      />
    );
  if (values.length < SLIDER_VALUES || !isSeries(parameter, values))
    return (
      <Choice
        label={key}
        value={value}
        values={values.includes(value) ? values : [value, ...values]}
        onChoose={onChoose}
      />
    );
  const at = values.indexOf(value);
  return (
    <Field label={key}>
      {({ id }) => (
        <span class="slider">
          <input
            id={id}
            type="range"
            min={0}
            max={values.length - 1}
            value={at < 0 ? values.length - 1 : at}
            aria-valuetext={value}
            onChange={(event) => onChoose(values[Number(event.currentTarget.value)] ?? value)}
          />
          <output for={id}>{value}</output>
        </span>
      )}
    </Field>
  );
}

/** Returns whether the values of a parameter are a series of times or numbers. */
const isSeries = ({ key, type }: ParameterFilter, values: readonly string[]): boolean =>
  type !== "string" ||
  values.every((one) => /^\d{4}(-|T|$)/.test(one) && !Number.isNaN(Date.parse(one))) ||
  (/^(elevation|dim_.*)$/i.test(key) && values.every((one) => Number.isFinite(Number(one))));
