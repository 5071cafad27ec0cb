import { Field } from "../../components/parts.tsx";

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly values: readonly string[];
  readonly onChoose: (value: string) => void;
}

/** A labelled list to choose one value from. */
export const Choice = ({ label, value, values, onChoose }: ChoiceProps) => (
  <Field label={label}>
    {({ id }) => (
      <select id={id} value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
        {values.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    )}
  </Field>
);
