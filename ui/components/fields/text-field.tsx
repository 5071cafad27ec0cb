import type { Signal } from "@preact/signals";
import type { PartialInputHTMLAttributes } from "preact";
import { Field, type FieldTexts } from "../parts.tsx";

/** The attributes of the input element that a view can set. */
type InputAttributes = Pick<
  PartialInputHTMLAttributes<HTMLInputElement>,
  | "autocomplete"
  | "class"
  | "inputMode"
  | "max"
  | "maxLength"
  | "min"
  | "placeholder"
  | "required"
  | "step"
  | "onChange"
  | "onKeyDown"
>;

export interface TextFieldProps extends FieldTexts, InputAttributes {
  readonly type?: "text" | "search" | "number" | "time" | "datetime-local";
  readonly value: string;
  readonly onInput: (text: string) => void;
  /** The values that the browser offers, some with a title. */
  readonly offered?: readonly (string | { readonly name: string; readonly title: string })[] | undefined;
}

/** Returns the props of a field whose text is in a signal. */
export const bound = (text: Signal<string>) => ({
  value: text.value,
  onInput: (typed: string): void => {
    text.value = typed;
  },
});

/** A labelled text, number or time. */
export function TextField({ label, hint, error, offered, type = "text", onInput, ...attributes }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {({ id, describedBy }) => (
        <>
          <input
            {...attributes}
            id={id}
            type={type}
            aria-describedby={describedBy}
            list={offered && `${id}-values`}
            onInput={({ currentTarget }) => onInput(currentTarget.value)}
          />
          {offered !== undefined && (
            <datalist id={`${id}-values`}>
              {offered.map((one) => {
                const { name, title } = typeof one === "string" ? { name: one, title: undefined } : one;
                return (
                  <option key={name} value={name}>
                    {title}
                  </option>
                );
              })}
            </datalist>
          )}
        </>
      )}
    </Field>
  );
}
