import { badField, type Refusal } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";

/** Parses decimal digits. A number too large to be exact stays large, so it lies outside every coverage. */
export const wholeNumber = (field: string, text: string): Result<number, Refusal> =>
  /^\d+$/.test(text) ? ok(Number(text)) : refuse(badField(field, "a whole number", text));

/** Splits an extension off: `3.png` → `3`, `png`. The extension is in lower case; undefined without a dot. */
export function splitExtension(text: string): { readonly stem: string; readonly extension: string | undefined } {
  const dot = text.lastIndexOf(".");
  return dot < 0
    ? { stem: text, extension: undefined }
    : { stem: text.slice(0, dot), extension: text.slice(dot + 1).toLowerCase() };
}
