import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useUniqueId } from "../../core/page/unique-id.ts";
import { t } from "../../core/text/i18n.ts";
import { Button } from "../button.tsx";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** The controls of a form. */
const FIELDS = "input, select, textarea";

/**
 * A modal dialog, with the focus in its first field. The browser traps the focus, closes the dialog on Escape and then
 * restores the focus.
 */
export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useUniqueId();
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    // The browser takes the first control, which is the button that closes the dialog.
    element.current?.querySelector<HTMLElement>(FIELDS)?.focus();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog ref={element} aria-labelledby={id} onClose={onClose}>
      <header>
        <h2 id={id}>{title}</h2>
        <Button label="✕" class="quiet small" name={t("close")} onPress={onClose} />
      </header>
      {children}
    </dialog>
  );
}
