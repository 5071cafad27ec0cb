import { Field, type FieldTexts } from "../parts.tsx";

export interface ChoiceProps<T> {
  /** The chosen value. If it is not among `values`, the control is empty. */
  readonly value: string | number;
  readonly values: readonly T[];
  /** Returns the text of a value. Absent if the value itself is shown. */
  readonly textOf?: ((value: T) => string) | undefined;
  readonly onChoose: (value: T) => void;
  readonly isRequired?: boolean;
}

interface SelectProps<T> extends ChoiceProps<T> {
  readonly id?: string;
  readonly describedBy?: string | undefined;
  /** The name of the control, if no label element names it. */
  readonly label?: string;
}

/** An unlabelled list to choose one value from. */
export function Select<T extends string | number>(props: SelectProps<T>) {
  const { id, describedBy, label, value, values, textOf = String, onChoose, isRequired = false } = props;
  return (
    <select
      id={id}
      aria-describedby={describedBy}
      aria-label={label}
      required={isRequired}
      value={value}
      onChange={({ currentTarget }) => {
        const chosen = values[currentTarget.selectedIndex];
        if (chosen !== undefined) onChoose(chosen);
      }}
    >
      {values.map((one) => (
        <option key={one} value={one}>
          {textOf(one)}
        </option>
      ))}
    </select>
  );
}

/** A labelled list to choose one value from. */
export const Choice = <T extends string | number>({ label, hint, error, ...choice }: ChoiceProps<T> & FieldTexts) => (
  <Field label={label} hint={hint} error={error}>
    {(ids) => <Select {...choice} {...ids} />}
  </Field>
);
