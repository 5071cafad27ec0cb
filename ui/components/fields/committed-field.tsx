import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { TextField, type TextFieldProps } from "./text-field.tsx";

interface CommittedFieldProps extends Omit<TextFieldProps, "onInput"> {
  /** Called when the user leaves the field or presses Enter. */
  readonly onCommit: (text: string) => void;
}

/**
 * A text field that reports its text when the user has completed it. The typed text survives new renders of the view.
 */
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
