import { type Doc, send } from "../../core/server/api.ts";
import { t } from "../../core/text/i18n.ts";
import { type ToastAction, toast, toastProblem } from "../toast.tsx";

type Truncation = Pick<Doc<"Truncation">, "id" | "state">;

/**
 * Returns a toast action that undoes a truncation. Undefined if the server cannot restore its tiles.
 * @param undone the message after the undo
 * @param onDone called after the undo
 */
export function undoAction({ id, state }: Truncation, undone: string, onDone?: () => void): ToastAction | undefined {
  if (state !== "kept") return undefined;
  const undo = async (): Promise<void> => {
    await send({ method: "POST", path: `truncations/${id}/undo` });
    toast(undone);
    onDone?.();
  };
  return { label: t("undo"), run: () => void undo().catch(toastProblem) };
}
