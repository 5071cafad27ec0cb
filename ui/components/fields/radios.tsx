import type { ComponentChildren } from "preact";
import type { ChoiceProps } from "./choice.tsx";

interface RadiosProps<T> extends Omit<ChoiceProps<T>, "isRequired"> {
  readonly label: string;
  /** The common name of the radio buttons. */
  readonly name: string;
  readonly textOf: (value: T) => string;
  /** Shown below the radio buttons. */
  readonly children?: ComponentChildren;
}

/** A labelled group of radio buttons. */
export const Radios = <T extends string>({
  label,
  name,
  value,
  values,
  textOf,
  onChoose,
  children,
}: RadiosProps<T>) => (
  <fieldset class="field">
    <legend>{label}</legend>
    {values.map((one) => (
      <label key={one} class="choice">
        <input type="radio" name={name} checked={one === value} onChange={() => onChoose(one)} />
        {textOf(one)}
      </label>
    ))}
    {children}
  </fieldset>
);
