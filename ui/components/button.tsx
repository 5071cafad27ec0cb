import type { ButtonHTMLAttributes, ComponentChildren } from "preact";

interface ButtonProps
  extends Pick<
    ButtonHTMLAttributes,
    "aria-disabled" | "aria-expanded" | "aria-pressed" | "class" | "disabled" | "title"
  > {
  readonly label: ComponentChildren;
  /** The name for screen readers, if the label alone is not clear. */
  readonly name?: string | undefined;
  readonly onPress: () => unknown;
}

/** A button that does not send a form. */
export const Button = ({ label, name, onPress, ...attributes }: ButtonProps) => (
  <button {...attributes} type="button" aria-label={name} onClick={() => void onPress()}>
    {label}
  </button>
);
