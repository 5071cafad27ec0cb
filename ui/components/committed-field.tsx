import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { TextField, type TextFieldProps } from "./text-field.tsx";

interface CommittedFieldProps extends Omit<TextFieldProps, "onInput"> {
  /** Called when the reader leaves the field or presses Enter. */
  readonly onCommit: (text: string) => void;
}

/** A text field whose text counts when it is complete. What is being typed survives events that render the view. */
export function CommittedField({ value, onCommit, ...field }: CommittedFieldProps) {
  const text = useSignal(value);
  useEffect(() => {
    text.value = value;
  }, [value]);
  return (
    <TextField
      {...field}
      value={text.value}
      onInput={(typed) => (text.value = typed)}
      onKeyDown={({ key, currentTarget }) => key === "Enter" && onCommit(currentTarget.value)}
      onChange={({ currentTarget }) => onCommit(currentTarget.value)}
    />
  );
}
