import { useSignal } from "@preact/signals";
import { Button } from "../../components/button.tsx";
import { Commands } from "../../components/dialogs/commands.tsx";
import { ConfirmDialog } from "../../components/dialogs/confirm-dialog.tsx";
import { toast, toastProblem } from "../../components/toast.tsx";
import { navigate, pathOf } from "../../core/page/router.ts";
import { type ApiRequest, send } from "../../core/server/api.ts";
import { useBusy } from "../../core/server/busy.ts";
import { t } from "../../core/text/i18n.ts";
import { Price } from "./effect-panel.tsx";
import type { EditedKind } from "./kinds.ts";
import type { Effect } from "./use-editor.ts";

interface RemoveProps {
  readonly kind: EditedKind;
  readonly name: string;
  readonly tag: string | null;
  /** Called if another user has changed the object since it was read. */
  readonly onConflict: () => void;
}

/** A button that shows the effect of the removal of an object, and then removes it. */
export function RemoveObject({ kind, name, tag, onConflict }: RemoveProps) {
  const effect = useSignal<Effect | undefined>(undefined);
  const { isBusy, run } = useBusy((problem) => {
    effect.value = undefined;
    if (problem.status === 412) onConflict();
    else toastProblem(problem);
  });
  const title = t("edit.remove.of", { name });
  const request: ApiRequest = {
    method: "DELETE",
    path: `${kind.collection}/${encodeURIComponent(name)}`,
    headers: tag === null ? {} : { "If-Match": tag },
  };
  const ask = (): Promise<void> =>
    run(async () => {
      effect.value = await send<Effect>({ ...request, path: `${request.path}?dryRun=true` });
    });
  const remove = (): Promise<void> =>
    run(async () => {
      await send(request);
      toast(t("edit.removed", { name }));
      navigate(kind.collection === "layers" ? "/layers" : pathOf(...kind.listed(name)));
    });
  return (
    <>
      <Button label={t("edit.remove")} class="danger" disabled={isBusy.value} onPress={ask} />
      {effect.value !== undefined && (
        <ConfirmDialog
          title={title}
          body={<Price effect={effect.value} />}
          label={t("edit.remove")}
          kind="danger"
          disabled={isBusy.value}
          onConfirm={remove}
          onClose={() => (effect.value = undefined)}
        >
          <Commands request={request} subject={title} isOpen />
        </ConfirmDialog>
      )}
    </>
  );
}
