import { signal } from "@preact/signals";
import { asProblem } from "../core/server/api.ts";
import { t } from "../core/text/i18n.ts";
import { Button } from "./button.tsx";

export interface ToastAction {
  readonly label: string;
  readonly run: () => void;
}

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: "done" | "problem";
  readonly action?: ToastAction | undefined;
}

interface ToastOptions {
  readonly kind?: Toast["kind"];
  readonly action?: ToastAction | undefined;
}

const toasts = signal<readonly Toast[]>([]);
let lastId = 0;
/** How long a message is shown. `long` is for a message with an action, or about a problem. */
const SHOWN_MS = { plain: 5_000, long: 20_000 };

/** Shows a short message, which screen readers announce. */
export function toast(text: string, { kind = "done", action }: ToastOptions = {}): void {
  const id = ++lastId;
  toasts.value = [...toasts.value.slice(-3), { id, text, kind, action }];
  setTimeout(() => close(id), kind === "problem" || action !== undefined ? SHOWN_MS.long : SHOWN_MS.plain);
}

/** Shows why an action has failed. */
export const toastProblem = (error: unknown): void => toast(asProblem(error).message, { kind: "problem" });

const close = (id: number): void => {
  toasts.value = toasts.value.filter((one) => one.id !== id);
};

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, kind, action }) => (
        <div key={id} class={`toast ${kind}`}>
          <span>{text}</span>
          {action !== undefined && (
            <Button
              label={action.label}
              class="quiet small"
              onPress={() => {
                close(id);
                action.run();
              }}
            />
          )}
          <Button label="✕" class="quiet small" name={t("close")} onPress={() => close(id)} />
        </div>
      ))}
    </div>
  );
}
