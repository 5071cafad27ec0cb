import { useSignal } from "@preact/signals";
import type { ComponentChildren, TargetedSubmitEvent } from "preact";
import type { ApiRequest } from "../../core/server/api.ts";
import { useBusy } from "../../core/server/busy.ts";
import { t } from "../../core/text/i18n.ts";
import { Button } from "../button.tsx";
import { Refusal } from "../parts.tsx";
import { Commands } from "./commands.tsx";
import { Dialog } from "./dialog.tsx";

interface FormDialogProps {
  readonly title: string;
  /** The text of the button that sends the form. */
  readonly submit: string;
  /** The request that the form shows, without passwords. */
  readonly shown: ApiRequest;
  readonly command?: string;
  readonly disabled?: boolean;
  readonly children: ComponentChildren;
  /** Sends the form. If it throws a `Problem`, the dialog shows the problem. */
  readonly run: () => Promise<void>;
  readonly onClose: () => void;
}

/** A dialog with a form that sends one request. After a refusal the dialog stays open with the typed values. */
export function FormDialog(props: FormDialogProps) {
  const { title, submit, shown, command, disabled = false, children, run, onClose } = props;
  const refusal = useSignal("");
  const { isBusy, run: send } = useBusy(({ message }) => (refusal.value = message));
  const onSubmit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    void send(run);
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="dialog-form" onSubmit={onSubmit}>
        {children}
        <Refusal text={refusal.value} />
        <Commands request={shown} command={command} subject={submit} isOpen />
        <div class="buttons">
          <Button label={t("cancel")} class="quiet" onPress={onClose} />
          <button type="submit" class="primary" disabled={disabled || isBusy.value}>
            {submit}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
