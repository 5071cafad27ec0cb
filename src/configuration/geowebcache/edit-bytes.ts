import { machineRandom } from "../../lib/random/machine-random.ts";
import type { Refusal } from "../../lib/refusal.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { ObjectChange } from "../gwc/configured-object.ts";
import { editFile } from "./edit-file.ts";
import { type FileLayout, isBlank, type LaidOutFile, type LayerPlace, layerTexts } from "./file-layout.ts";
import { type FileContent, readText } from "./read-file.ts";

/*
 * Parsing all layers of a large file would take longer than all other work of a change. So a change parses a short text
 * in place of the file, in which one comment replaces each run of layers that do not change. The changed file is the
 * changed short text, with the bytes of the runs in place of the comments.
 */

/** A file after a change, in consecutive pieces. Most pieces are parts of the bytes before the change. */
export interface EditedFile {
  readonly pieces: readonly Buffer[];
  readonly layout: FileLayout;
}

/** Consecutive layers of a file that do not change and have only white space between them. */
interface Run {
  /** The byte offsets of the start of the first layer and of the end of the last layer. */
  readonly start: number;
  readonly end: number;
  readonly layers: readonly LayerPlace[];
}

/** Returns the file with changed objects. */
export function editBytes(file: LaidOutFile, changes: readonly ObjectChange[]): Result<EditedFile, Refusal> {
  const runs = unchangedRuns(file.layout, changes);
  const comment = `<!--${machineRandom.uuid()}-->`;
  const short = readText(shortText(file, runs, comment), file.layout.names);
  if (!short.ok) return short;
  const edited = readText(editFile(short.value, changes), file.layout.names);
  return edited.ok ? ok(withRuns(edited.value, comment, file, runs)) : edited;
}

/** Returns the runs of a file. Leaves out the last layer, because a new layer copies its indentation. */
function unchangedRuns({ layers }: FileLayout, changes: readonly ObjectChange[]): readonly Run[] {
  const changed = new Set(changes.flatMap(({ kind, name }) => (kind === "layer" ? [name] : [])));
  const runs: { start: number; end: number; layers: LayerPlace[] }[] = [];
  let at = 0;
  for (const layer of layers.slice(0, -1)) {
    const start = at + layer.before;
    const end = start + layer.length;
    const run = runs.at(-1);
    if (!changed.has(layer.name)) {
      // If the run ended elsewhere, a layer that changes would be between them.
      if (run?.end === at && layer.isBlankBefore) {
        run.layers.push(layer);
        run.end = end;
      } else runs.push({ start, end, layers: [layer] });
    }
    at = end;
  }
  return runs;
}

/** Returns the text of a file with a comment in place of each run. */
function shortText({ bytes, layout }: LaidOutFile, runs: readonly Run[], comment: string): string {
  let text = "";
  let at = 0;
  for (const { start, end } of runs) {
    text += bytes.toString(layout.encoding, at, start) + comment;
    at = end;
  }
  return text + bytes.toString(layout.encoding, at);
}

/** Returns the text with each comment replaced by its run. Comments and runs are in the same order. */
function withRuns(
  short: FileContent,
  comment: string,
  { bytes, layout: { encoding, names } }: LaidOutFile,
  runs: readonly Run[],
): EditedFile {
  const pieces: Buffer[] = [];
  const layers: LayerPlace[] = [];
  let nextRun = 0;
  /** The text since the last layer. */
  let between = "";

  const addText = (text: string): number => {
    const piece = Buffer.from(text, encoding);
    pieces.push(piece);
    return piece.length;
  };
  /** Adds text between layers, with the runs for its comments. */
  const addBetween = (text: string): void => {
    for (const [i, part] of text.split(comment).entries()) {
      const run = i === 0 ? undefined : runs[nextRun++];
      if (run !== undefined) addRun(run);
      addText(part);
      between += part;
    }
  };
  const addRun = ({ start, end, layers: [first, ...others] }: Run): void => {
    pieces.push(bytes.subarray(start, end));
    if (first !== undefined) addPlace(first);
    for (const layer of others) layers.push(layer);
  };
  const addPlace = ({ name, length }: Pick<LayerPlace, "name" | "length">): void => {
    const before = Buffer.byteLength(between, encoding);
    layers.push({ name, before, isBlankBefore: isBlank(between), length });
    between = "";
  };

  const texts = layerTexts(short);
  for (const { name, before, text } of texts) {
    addBetween(before);
    addPlace({ name, length: addText(text) });
  }
  addBetween(short.text.slice(texts.at(-1)?.end));
  return { pieces, layout: { encoding, layers, names } };
}
