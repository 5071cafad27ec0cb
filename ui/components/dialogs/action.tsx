import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { type ApiRequest, type Problem, send as sendRequest } from "../../core/server/api.ts";
import { useBusy } from "../../core/server/busy.ts";
import { may, type Right } from "../../core/server/session.ts";
import { Button } from "../button.tsx";
import { type ToastAction, toast, toastProblem } from "../toast.tsx";
import { Commands } from "./commands.tsx";
import { ConfirmDialog } from "./confirm-dialog.tsx";

interface ActionProps<T> {
  readonly label: string;
  /** The effect of the control, for screen readers and the tooltip, if the label alone does not state it. */
  readonly title?: string;
  readonly request: ApiRequest;
  /** The request as the commands show it, if its body is too long for them. */
  readonly shown?: ApiRequest;
  /** The same action as a command line. Absent if there is no such command. */
  readonly command?: string;
  readonly need?: Right;
  readonly kind?: "primary" | "danger" | "quiet";
  readonly disabled?: boolean;
  /** Makes the button small, for a row of a table. The commands are then in the view of the row's object. */
  readonly isSmall?: boolean;
  /**
   * A dialog before the request is sent. `typed` is a text that the user must type, for actions that cannot be undone.
   */
  readonly confirm?: { readonly title: string; readonly body: ComponentChildren; readonly typed?: string };
  /** Returns the message that is shown after success. */
  readonly done?: (answer: T) => { readonly text: string; readonly action?: ToastAction | undefined } | undefined;
  readonly onDone?: (answer: T) => void;
  /** Called after a refusal, in addition to the message. */
  readonly onProblem?: (problem: Problem) => void;
  /** Shows no toast after a refusal, because `onProblem` shows the whole problem. */
  readonly isProblemShown?: boolean;
}

/**
 * A button that sends one request. It is hidden from an account whose request the server would refuse. With a command
 * or a confirmation, a dialog shows the request as curl and as a command line.
 */
export function Action<T = unknown>(props: ActionProps<T>) {
  const { label, title, request, command, need = "operate", kind = "quiet", disabled = false, confirm } = props;
  const { isSmall = false } = props;
  const { isBusy, run } = useBusy((problem) => {
    if (props.isProblemShown !== true) toastProblem(problem);
    props.onProblem?.(problem);
  });
  const asking = useSignal(false);
  if (!may(need)) return null;

  const send = (): Promise<void> =>
    run(async () => {
      const answer = await sendRequest<T>(request);
      asking.value = false;
      const done = props.done?.(answer);
      if (done !== undefined) toast(done.text, { action: done.action });
      props.onDone?.(answer);
    });
  const begin = (): void => {
    if (isBusy.value) return;
    if (confirm === undefined) void send();
    else asking.value = true;
  };
  return (
    <span class="action">
      <Button
        class={isSmall ? `${kind} small` : kind}
        title={title}
        name={title}
        label={label}
        disabled={disabled}
        // A disabled button would lose the focus, and keyboard users their position.
        aria-disabled={isBusy.value || undefined}
        onPress={begin}
      />
      {confirm === undefined && !isSmall && (
        <Commands request={props.shown ?? request} command={command} subject={title ?? label} />
      )}
      {confirm !== undefined && asking.value && (
        <ConfirmDialog
          {...confirm}
          label={label}
          kind={kind === "quiet" ? "primary" : kind}
          disabled={isBusy.value}
          onConfirm={send}
          onClose={() => (asking.value = false)}
        >
          <Commands request={props.shown ?? request} command={command} subject={label} isOpen />
        </ConfirmDialog>
      )}
    </span>
  );
}
