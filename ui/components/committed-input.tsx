import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

interface CommittedInputProps {
  readonly id: string;
  readonly value: string;
  /** Called when the reader leaves the field or presses Enter. */
  readonly onCommit: (text: string) => void;
  readonly describedBy?: string | undefined;
  readonly placeholder?: string;
  readonly isNumber?: boolean;
}

/** A text field whose text counts when it is complete. What is being typed survives events that render the view. */
export function CommittedInput({
  id,
  value,
  onCommit,
  describedBy,
  placeholder,
  isNumber = false,
}: CommittedInputProps) {
  const text = useSignal(value);
  useEffect(() => {
    text.value = value;
  }, [value]);
  return (
    <input
      id={id}
      aria-describedby={describedBy}
      placeholder={placeholder}
      inputMode={isNumber ? "decimal" : "text"}
      class={isNumber ? "number" : undefined}
      value={text.value}
      onInput={(event) => (text.value = event.currentTarget.value)}
      onKeyDown={(event) => event.key === "Enter" && onCommit(event.currentTarget.value)}
      onChange={(event) => onCommit(event.currentTarget.value)}
    />
  );
}
