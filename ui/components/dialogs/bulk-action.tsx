import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { type ApiRequest, asProblem, type Problem, send } from "../../core/server/api.ts";
import { curlOf } from "../../core/server/command.ts";
import { may } from "../../core/server/session.ts";
import { t } from "../../core/text/i18n.ts";
import { Button } from "../button.tsx";
import { toast, toastProblem } from "../toast.tsx";
import { CommandLines } from "./commands.tsx";
import { ConfirmDialog } from "./confirm-dialog.tsx";

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
  if (!may("operate")) return null;
  const close = (): void => {
    prepared.value = undefined;
    sent.value = undefined;
  };
  const open = async (): Promise<void> => {
    try {
      prepared.value = await prepare();
    } catch (error) {
      toastProblem(error);
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
      <Button label={label} class={kind} disabled={disabled} onPress={open} />
      {shown !== undefined && (
        <ConfirmDialog
          title={shown.title}
          body={shown.body}
          typed={shown.typed}
          label={
            sent.value === undefined
              ? (shown.texts?.confirm ?? t("bulk.confirm", { action: label, count: shown.requests.length }))
              : t("bulk.progress", { sent: sent.value, count: shown.requests.length })
          }
          kind={kind === "danger" ? "danger" : "primary"}
          disabled={shown.requests.length === 0 || sent.value !== undefined}
          onConfirm={() => run(shown)}
          onClose={close}
        >
          {shown.requests.length > 0 && (
            <CommandLines curl={shown.requests.map(curlOf).join("\n")} command={shown.command} />
          )}
        </ConfirmDialog>
      )}
    </>
  );
}
