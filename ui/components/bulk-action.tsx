import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { type ApiRequest, asProblem, type Problem, send } from "../core/api.ts";
import { curlOf } from "../core/command.ts";
import { t } from "../core/i18n.ts";
import { may } from "../core/session.ts";
import { CommandLines } from "./commands.tsx";
import { Dialog } from "./dialog.tsx";
import { toast } from "./toast.tsx";
import { TypedConfirmation } from "./typed-confirmation.tsx";

/** Several requests of one kind, and the texts of their confirmation. */
export interface BulkRequests {
  readonly title: string;
  readonly body: ComponentChildren;
  readonly requests: readonly ApiRequest[];
  readonly command?: string | undefined;
  /** A text that the user must type, for requests that are dangerous in large numbers. */
  readonly typed?: string;
  /** The text of the button that sends the requests, and the message afterwards. Absent for the texts of jobs. */
  readonly texts?: { readonly confirm: string; readonly done: (count: number) => string };
}

interface BulkActionProps {
  readonly label: string;
  readonly kind?: "quiet" | "danger";
  readonly disabled?: boolean;
  /** Returns the requests. Called when the user presses the button. */
  readonly prepare: () => BulkRequests | Promise<BulkRequests>;
  readonly onDone?: () => void;
}

/** A button for operators that sends several requests after one confirmation, which shows their number. */
export function BulkAction({ label, kind = "quiet", disabled = false, prepare, onDone }: BulkActionProps) {
  const prepared = useSignal<BulkRequests | undefined>(undefined);
  const sent = useSignal<number | undefined>(undefined);
  const typed = useSignal("");
  if (!may("operate")) return null;
  const close = (): void => {
    prepared.value = undefined;
    sent.value = undefined;
    typed.value = "";
  };
  const open = async (): Promise<void> => {
    try {
      prepared.value = await prepare();
    } catch (error) {
      toast(asProblem(error).message, { kind: "problem" });
    }
  };
  const run = async ({ requests, texts }: BulkRequests): Promise<void> => {
    const problems: Problem[] = [];
    sent.value = 0;
    // One after the other in the given order, because cancelling a running job first would start a waiting one.
    for (const request of requests) {
      await send(request).catch((error: unknown) => problems.push(asProblem(error)));
      sent.value++;
    }
    close();
    const done = requests.length - problems.length;
    toast(texts === undefined ? t("bulk.done", { count: done }) : texts.done(done));
    const [first] = problems;
    if (first !== undefined)
      toast(t("bulk.refused", { count: problems.length, message: first.message }), { kind: "problem" });
    onDone?.();
  };
  const shown = prepared.value;
  return (
    <>
      <button type="button" class={kind} disabled={disabled} onClick={() => void open()}>
        {label}
      </button>
      {shown !== undefined && (
        <Dialog title={shown.title} onClose={close}>
          <div class="body">{shown.body}</div>
          {shown.typed !== undefined && <TypedConfirmation text={shown.typed} typed={typed} />}
          {shown.requests.length > 0 && (
            <CommandLines curl={shown.requests.map(curlOf).join("\n")} command={shown.command} />
          )}
          <div class="buttons">
            <button type="button" class="quiet" onClick={close}>
              {t("cancel")}
            </button>
            <button
              type="button"
              class={kind === "danger" ? "danger" : "primary"}
              disabled={
                shown.requests.length === 0 ||
                sent.value !== undefined ||
                (shown.typed !== undefined && typed.value !== shown.typed)
              }
              onClick={() => void run(shown)}
            >
              {sent.value === undefined
                ? (shown.texts?.confirm ?? t("bulk.confirm", { action: label, count: shown.requests.length }))
                : t("bulk.progress", { sent: sent.value, count: shown.requests.length })}
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
