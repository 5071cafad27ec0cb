import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Button } from "../button.tsx";

interface DialogButtonProps {
  readonly label: string;
  readonly kind: "primary" | "danger" | "quiet";
  /** Returns the dialog. The dialog calls `close` when it has ended. */
  readonly children: (close: () => void) => ComponentChildren;
}

/** A button that opens a dialog. */
export function DialogButton({ label, kind, children }: DialogButtonProps) {
  const isOpen = useSignal(false);
  return (
    <>
      <Button label={label} class={kind} onPress={() => (isOpen.value = true)} />
      {isOpen.value && children(() => (isOpen.value = false))}
    </>
  );
}
