import type { ObjectChange } from "../../../gwc/configured-object.ts";
import type { Refusal } from "../../../lib/refusal.ts";
import { ok, type Result } from "../../../lib/result.ts";
import { childrenNamed } from "../../../lib/xml-element.ts";
import { editFile, rootOf } from "./edit-file.ts";
import { CONTAINERS, type FileContent, readText } from "./read-file.ts";

/** A part of the text of a file: the element of a layer, or the text between two such elements. */
export interface FilePart {
  readonly text: string;
  /** The name of the layer; undefined: the part is no layer. */
  readonly layer: string | undefined;
}

/** Returns the text of a file in parts, of which each layer is one. */
export function partsOf({ text, objects }: FileContent): readonly FilePart[] {
  const items = childrenNamed(rootOf(text), CONTAINERS.layer.element).flatMap(({ children }) => children);
  const parts: FilePart[] = [];
  let at = 0;
  for (const { kind, name, index } of objects) {
    const item = kind === "layer" && index !== undefined ? items[index] : undefined;
    if (item === undefined) continue;
    parts.push({ text: text.slice(at, item.start), layer: undefined });
    parts.push({ text: text.slice(item.start, item.end), layer: name });
    at = item.end;
  }
  return [...parts, { text: text.slice(at), layer: undefined }];
}

export const textOfParts = (parts: readonly FilePart[]): string => parts.map(({ text }) => text).join("");

/**
 * Returns the parts of a file after a change of one layer. Reads that layer and the text between the layers, but none
 * of the other layers: reading hundreds of layers takes longer than everything else that a change does.
 */
export function editParts(parts: readonly FilePart[], change: ObjectChange): Result<readonly FilePart[], Refusal> {
  const { kept, runs, mark } = withoutOthers(parts, change.name);
  const content = readText(kept);
  if (!content.ok) return content;
  const edited = readText(editFile(content.value, [change]));
  if (!edited.ok) return edited;
  return ok(
    partsOf(edited.value).flatMap((part): readonly FilePart[] =>
      part.layer === undefined
        ? part.text
            .split(mark)
            .flatMap((text, i) => (i % 2 === 0 ? [{ text, layer: undefined }] : (runs[Number(text)] ?? [])))
        : [part],
    ),
  );
}

/**
 * Returns the text without the other layers: a comment stands for each run of them, its number between two marks. The
 * last layer stays, because a new one gets its indentation.
 */
function withoutOthers(
  parts: readonly FilePart[],
  name: string,
): { readonly kept: string; readonly runs: readonly (readonly FilePart[])[]; readonly mark: RegExp } {
  const last = parts.findLastIndex(({ layer }) => layer !== undefined);
  const isOther = (i: number): boolean => {
    const layer = parts[i]?.layer;
    return layer !== undefined && layer !== name && i !== last;
  };
  let word = "run";
  while (parts.some(({ text }) => text.includes(`<!--${word} `))) word += "x";
  const runs: FilePart[][] = [];
  let kept = "";
  for (let i = 0; i < parts.length; ) {
    const run: FilePart[] = [];
    // Two layers and white space between them.
    for (let part = parts[i]; part !== undefined && isOther(i); part = parts[i]) {
      const [between] = parts.slice(i + 1, i + 2);
      run.push(part);
      i++;
      if (between === undefined || between.text.trim() !== "" || !isOther(i + 1)) break;
      run.push(between);
      i++;
    }
    if (run.length > 0) kept += `<!--${word} ${runs.push(run) - 1}-->`;
    else kept += parts[i++]?.text ?? "";
  }
  return { kept, runs, mark: new RegExp(`<!--${word} (\\d+)-->`) };
}
