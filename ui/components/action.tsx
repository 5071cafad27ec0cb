import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { type ApiRequest, asProblem, type Problem, send } from "../core/api.ts";
import { t } from "../core/i18n.ts";
import { may, type Right } from "../core/session.ts";
import { Commands } from "./commands.tsx";
import { Dialog } from "./dialog.tsx";
import { type ToastAction, toast } from "./toast.tsx";
import { TypedConfirmation } from "./typed-confirmation.tsx";

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
  /** Makes the button small, for a row of a table. */
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
  const busy = useSignal(false);
  const asking = useSignal(false);
  const typed = useSignal("");
  if (!may(need)) return null;

  const run = async (): Promise<void> => {
    busy.value = true;
    try {
      const answer = await send<T>(request);
      asking.value = false;
      const done = props.done?.(answer);
      if (done !== undefined) toast(done.text, { action: done.action });
      props.onDone?.(answer);
    } catch (error) {
      const problem = asProblem(error);
      if (props.isProblemShown !== true) toast(problem.message, { kind: "problem" });
      props.onProblem?.(problem);
    } finally {
      busy.value = false;
    }
  };
  const begin = (): void => {
    if (busy.value) return;
    typed.value = "";
    if (confirm === undefined) void run();
    else asking.value = true;
  };
  return (
    <span class="action">
      <button
        type="button"
        class={isSmall ? `${kind} small` : kind}
        title={title}
        aria-label={title}
        disabled={disabled}
        // A disabled button would lose the focus, and keyboard users their position.
        aria-disabled={busy.value || undefined}
        onClick={begin}
      >
        {label}
      </button>
      {confirm === undefined && (
        <Commands request={props.shown ?? request} command={command} subject={title ?? label} />
      )}
      {confirm !== undefined && asking.value && (
        <Dialog title={confirm.title} onClose={() => (asking.value = false)}>
          <div class="body">{confirm.body}</div>
          {confirm.typed !== undefined && <TypedConfirmation text={confirm.typed} typed={typed} />}
          <Commands request={props.shown ?? request} command={command} subject={label} isOpen />
          <div class="buttons">
            <button type="button" class="quiet" onClick={() => (asking.value = false)}>
              {t("cancel")}
            </button>
            <button
              type="button"
              class={kind === "quiet" ? "primary" : kind}
              disabled={busy.value || (confirm.typed !== undefined && typed.value !== confirm.typed)}
              onClick={() => void run()}
            >
              {label}
            </button>
          </div>
        </Dialog>
      )}
    </span>
  );
}
