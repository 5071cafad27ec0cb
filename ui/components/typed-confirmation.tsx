import type { Signal } from "@preact/signals";
import { t } from "../core/i18n.ts";
import { TextField } from "./text-field.tsx";

/** A field for a text that the user must type before an action that cannot be undone. */
export const TypedConfirmation = ({ text, typed }: { readonly text: string; readonly typed: Signal<string> }) => (
  <TextField label={t("confirm.type", { text })} value={typed.value} onInput={(value) => (typed.value = value)} />
);
