import { asProblem, type Doc, send } from "../core/api.ts";
import { t } from "../core/i18n.ts";
import { type ToastAction, toast } from "./toast.tsx";

type Truncation = Pick<Doc<"Truncation">, "id" | "state">;

/**
 * Returns a toast action that undoes a truncation. Undefined if the server cannot restore its tiles.
 * @param undone the message after the undo
 * @param onDone called after the undo
 */
export function undoAction({ id, state }: Truncation, undone: string, onDone?: () => void): ToastAction | undefined {
  if (state !== "kept") return undefined;
  const undo = async (): Promise<void> => {
    try {
      await send({ method: "POST", path: `truncations/${id}/undo` });
      toast(undone);
      onDone?.();
    } catch (error) {
      toast(asProblem(error).message, { kind: "problem" });
    }
  };
  return { label: t("undo"), run: () => void undo() };
}
