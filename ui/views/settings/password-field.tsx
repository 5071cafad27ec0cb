import { Field } from "../../components/parts.tsx";

/** The least number of characters that the server accepts. */
const LEAST_PASSWORD = 8;

interface PasswordFieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly onInput: (text: string) => void;
  /** `present`: the account's password; `new`: its future password. */
  readonly kind: "present" | "new";
  readonly isOptional?: boolean;
}

export function PasswordField({ label, hint, value, onInput, kind, isOptional = false }: PasswordFieldProps) {
  return (
    <Field label={label} hint={hint}>
      {({ id, describedBy }) => (
        <input
          id={id}
          aria-describedby={describedBy}
          type="password"
          autocomplete={kind === "new" ? "new-password" : "current-password"}
          minLength={kind === "new" ? LEAST_PASSWORD : undefined}
          required={!isOptional}
          value={value}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
      )}
    </Field>
  );
}
