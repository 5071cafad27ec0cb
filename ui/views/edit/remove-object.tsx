import { useSignal } from "@preact/signals";
import { Commands } from "../../components/commands.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { toast } from "../../components/toast.tsx";
import { type ApiRequest, asProblem, send } from "../../core/api.ts";
import { t } from "../../core/i18n.ts";
import { navigate, pathOf } from "../../core/router.ts";
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
  const isBusy = useSignal(false);
  const title = t("edit.remove.of", { name });
  const request: ApiRequest = {
    method: "DELETE",
    path: `${kind.collection}/${encodeURIComponent(name)}`,
    headers: tag === null ? {} : { "If-Match": tag },
  };
  const run = async (work: () => Promise<void>): Promise<void> => {
    isBusy.value = true;
    try {
      await work();
    } catch (error) {
      const problem = asProblem(error);
      effect.value = undefined;
      if (problem.status === 412) onConflict();
      else toast(problem.message, { kind: "problem" });
    } finally {
      isBusy.value = false;
    }
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
      <button type="button" class="danger" disabled={isBusy.value} onClick={() => void ask()}>
        {t("edit.remove")}
      </button>
      {effect.value !== undefined && (
        <Dialog title={title} onClose={() => (effect.value = undefined)}>
          <div class="body">
            <Price effect={effect.value} />
          </div>
          <Commands request={request} subject={title} isOpen />
          <div class="buttons">
            <button type="button" class="quiet" onClick={() => (effect.value = undefined)}>
              {t("cancel")}
            </button>
            <button type="button" class="danger" disabled={isBusy.value} onClick={() => void remove()}>
              {t("edit.remove")}
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
