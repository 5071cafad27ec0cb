import type { ObjectChange } from "../../../gwc/configured-object.ts";
import type { Refusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { encodingOf } from "../../body/body-text.ts";
import { editFile } from "./edit-file.ts";
import { type FileContent, readText } from "./read-file.ts";

/** Where a file has its layers. With it a change reads nothing of the layers that it leaves alone. */
export interface FileLayout {
  readonly encoding: "utf-8" | "latin1";
  /** The names of the layers, in the order of the file. */
  readonly layers: readonly string[];
  /** Numbers of bytes: those before the first layer, of that layer, up to the second one, of that one, to the file's end. */
  readonly lengths: readonly number[];
}

/** The bytes of a file, and where it has its layers. */
export interface LaidOutFile {
  readonly bytes: Buffer;
  readonly layout: FileLayout;
}

/** Returns the layout of a file that was read. Refuses, by the end of a sentence, a file that cannot be changed. */
export function layoutOf(bytes: Uint8Array, content: FileContent): Result<FileLayout, string> {
  const encoding = encodingOf(bytes);
  if (encoding !== "utf-8" && encoding !== "latin1")
    return refuse("is neither in UTF-8 nor in ISO-8859-1, so it cannot be changed over HTTP.");
  if (/<\w+:gwcConfiguration\b/.test(content.text))
    return refuse("has a prefix before its elements, with which it cannot be changed over HTTP.");
  const { layers, rest } = split(content);
  const bytesOf = (text: string): number => Buffer.byteLength(text, encoding);
  // The text lacks the byte order mark.
  const mark = bytes.length - bytesOf(content.text);
  const [first = 0, ...others] = [...layers.flatMap(({ before, text }) => [before, text]), rest].map(bytesOf);
  return ok({ encoding, layers: layers.map(({ name }) => name), lengths: [mark + first, ...others] });
}

interface LayerText {
  readonly name: string;
  /** The text between the layer before, or the beginning, and this one. */
  readonly before: string;
  readonly text: string;
}

/** Returns the texts of the layers of a file, and the text behind them. */
function split({ text, objects }: FileContent): { readonly layers: readonly LayerText[]; readonly rest: string } {
  const layers: LayerText[] = [];
  let at = 0;
  for (const { kind, name, start, end } of objects) {
    if (kind !== "layer" || start === undefined || end === undefined) continue;
    layers.push({ name, before: text.slice(at, start), text: text.slice(start, end) });
    at = end;
  }
  return { layers, rest: text.slice(at) };
}

/** A file after a change, in pieces, of which most are parts of the bytes before. */
export interface EditedFile {
  readonly pieces: readonly Buffer[];
  readonly layout: FileLayout;
}

/**
 * Returns a file after changes of objects. Reads the layers that change and what stands between layers, but none of the
 * other layers: reading hundreds of layers takes longer than everything else that a change does.
 */
export function editBytes(file: LaidOutFile, changes: readonly ObjectChange[]): Result<EditedFile, Refusal> {
  const { encoding } = file.layout;
  const { text, runs, mark } = withoutOthers(file, changes);
  const content = readText(text);
  if (!content.ok) return content;
  const edited = readText(editFile(content.value, changes));
  if (!edited.ok) return edited;
  const pieces: Buffer[] = [];
  const layers: string[] = [];
  const lengths: number[] = [];
  const add = (part: string): void => {
    const bytes = Buffer.from(part, encoding);
    pieces.push(bytes);
    lengths.push(bytes.length);
  };
  const addBetween = (part: string): void => {
    for (const [i, one] of part.split(mark).entries()) {
      const run = i % 2 === 0 ? undefined : runs[Number(one)];
      if (run === undefined) add(one);
      else {
        pieces.push(run.bytes);
        for (const layer of run.layout.layers) layers.push(layer);
        for (const length of run.layout.lengths) lengths.push(length);
      }
    }
  };
  const after = split(edited.value);
  for (const layer of after.layers) {
    addBetween(layer.before);
    layers.push(layer.name);
    add(layer.text);
  }
  addBetween(after.rest);
  return ok({ pieces, layout: { encoding, layers, lengths } });
}

interface ShortText {
  readonly text: string;
  /** The runs that are left out. Each begins and ends with a layer, and so do its lengths. */
  readonly runs: readonly LaidOutFile[];
  /** Finds the comment that stands for a run. */
  readonly mark: RegExp;
}

/**
 * Returns the text without the layers that do not change: a comment stands for each run of them, its number between two
 * marks. The last layer stays, because a new one gets its indentation.
 */
function withoutOthers({ bytes, layout }: LaidOutFile, changes: readonly ObjectChange[]): ShortText {
  const { encoding, layers, lengths } = layout;
  const changed = new Set(changes.flatMap(({ kind, name }) => (kind === "layer" ? [name] : [])));
  const isOther = (n: number): boolean => n < layers.length - 1 && !changed.has(layers[n] ?? "");
  const before = (n: number): number => lengths[2 * n] ?? 0;
  const own = (n: number): number => lengths[2 * n + 1] ?? 0;
  const texts: string[] = [];
  const runs: LaidOutFile[] = [];
  let written = 0;
  let at = 0;
  for (let n = 0; n < layers.length; ) {
    at += before(n);
    const start = at;
    const first = n;
    at += own(n++);
    if (!isOther(first)) continue;
    // Layers with nothing but white space between them.
    while (isOther(n) && isBlank(bytes, at, at + before(n))) at += before(n) + own(n++);
    texts.push(bytes.toString(encoding, written, start));
    const run = { encoding, layers: layers.slice(first, n), lengths: lengths.slice(2 * first + 1, 2 * n) };
    runs.push({ bytes: bytes.subarray(start, at), layout: run });
    written = at;
  }
  texts.push(bytes.toString(encoding, written));
  let word = "run";
  while (texts.some((text) => text.includes(`<!--${word} `))) word += "x";
  return {
    text: texts.map((text, i) => (i === 0 ? text : `<!--${word} ${i - 1}-->${text}`)).join(""),
    runs,
    mark: new RegExp(`<!--${word} (\\d+)-->`),
  };
}

function isBlank(bytes: Buffer, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    const byte = bytes[i];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return false;
  }
  return true;
}
