import type { Signal } from "@preact/signals";
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { t } from "../../core/text/i18n.ts";
import { Button } from "../button.tsx";
import { bound, TextField } from "../fields/text-field.tsx";
import { Dialog } from "./dialog.tsx";

interface ConfirmDialogProps {
  readonly title: string;
  /** The effect of the action. */
  readonly body: ComponentChildren;
  /** A text that the user must type, for an action that cannot be undone. */
  readonly typed?: string | undefined;
  /** The action as commands. */
  readonly children: ComponentChildren;
  /** The text of the button that confirms. */
  readonly label: string;
  readonly kind: "primary" | "danger";
  readonly disabled: boolean;
  readonly onConfirm: () => unknown;
  readonly onClose: () => void;
}

/** Shows the effect of an action, and asks whether to do it. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, body, typed, children, label, kind, disabled, onConfirm, onClose } = props;
  const given = useSignal("");
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="body">{body}</div>
      {typed !== undefined && <TypedConfirmation text={typed} typed={given} />}
      {children}
      <div class="buttons">
        <Button class="quiet" label={t("cancel")} onPress={onClose} />
        <Button
          class={kind}
          label={label}
          disabled={disabled || (typed !== undefined && given.value !== typed)}
          onPress={onConfirm}
        />
      </div>
    </Dialog>
  );
}

/** A field for a text that the user must type before an action that cannot be undone. */
export const TypedConfirmation = ({ text, typed }: { readonly text: string; readonly typed: Signal<string> }) => (
  <TextField label={t("confirm.type", { text })} {...bound(typed)} />
);
