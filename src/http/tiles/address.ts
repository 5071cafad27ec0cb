import { asZoom, type Zoom } from "../../grid/grid-set.ts";
import { badField, type Refusal } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";

/** Parses decimal digits. A number too large to be exact stays large, so it is outside of every coverage. */
export const wholeNumber = (field: string, text: string): Result<number, Refusal> =>
  /^\d+$/.test(text) ? ok(Number(text)) : refuse(badField(field, "a whole number", text));

/** Splits an extension off: `3.png` → `3`, `png`. The extension is in lower case. Undefined without a dot. */
export function splitExtension(text: string): { readonly stem: string; readonly extension: string | undefined } {
  const dot = text.lastIndexOf(".");
  return dot < 0
    ? { stem: text, extension: undefined }
    : { stem: text.slice(0, dot), extension: text.slice(dot + 1).toLowerCase() };
}

/** Parses the end of an address, `{z}/{x}/{y}.{ext}`. */
export function parseRowFile([zText = "", xText = "", last = ""]: readonly string[]): Result<
  { readonly z: Zoom; readonly column: number; readonly row: number; readonly extension: string },
  Refusal
> {
  const { stem, extension } = splitExtension(last);
  if (extension === undefined) return refuse(badField("y", "a row with an extension, such as 3.png", last));
  const z = wholeNumber("z", zText);
  if (!z.ok) return z;
  const x = wholeNumber("x", xText);
  if (!x.ok) return x;
  const y = wholeNumber("y", stem);
  return y.ok ? ok({ z: asZoom(z.value), column: x.value, row: y.value, extension }) : y;
}
