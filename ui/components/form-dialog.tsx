import { useSignal } from "@preact/signals";
import type { ComponentChildren, TargetedSubmitEvent } from "preact";
import { type ApiRequest, asProblem } from "../core/api.ts";
import { t } from "../core/i18n.ts";
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
  const busy = useSignal(false);
  const problem = useSignal("");
  const send = async (event: TargetedSubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    busy.value = true;
    try {
      await run();
    } catch (error) {
      problem.value = asProblem(error).message;
    } finally {
      busy.value = false;
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="dialog-form" onSubmit={(event) => void send(event)}>
        {children}
        <p class="problem" role="alert" hidden={problem.value === ""}>
          {problem.value}
        </p>
        <Commands request={shown} command={command} subject={submit} isOpen />
        <div class="buttons">
          <button type="button" class="quiet" onClick={onClose}>
            {t("cancel")}
          </button>
          <button type="submit" class="primary" disabled={disabled || busy.value}>
            {submit}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
