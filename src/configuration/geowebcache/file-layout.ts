import { createHash } from "node:crypto";
import { encodingOf } from "../../body/body-text.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import type { ArchiveNames, FileContent } from "./read-file.ts";

/** The position of a layer in the bytes of a file. */
export interface LayerPlace {
  readonly name: string;
  /** The number of bytes between the previous layer, or the beginning of the file, and this layer. */
  readonly before: number;
  /** Whether these bytes are only white space. */
  readonly isBlankBefore: boolean;
  /** The number of bytes of the layer's element. */
  readonly length: number;
}

/** The positions of the layers of a file, so that a change need not parse layers that stay unchanged. */
export interface FileLayout {
  readonly encoding: "utf-8" | "latin1";
  /** The layers in the order of the file. */
  readonly layers: readonly LayerPlace[];
  /** The names of archives whose layers have no name. */
  readonly names: ArchiveNames;
}

/** The bytes of a file, and the positions of its layers. */
export interface LaidOutFile {
  readonly bytes: Buffer;
  readonly layout: FileLayout;
}

/**
 * Returns the layout of a file that was read. Refuses a file that cannot be changed; the refusal is the end of a
 * sentence that begins with the file's name.
 */
export function layoutOf(
  bytes: Uint8Array,
  content: FileContent,
  names: ArchiveNames = new Map(),
): Result<FileLayout, string> {
  const encoding = encodingOf(bytes);
  if (encoding !== "utf-8" && encoding !== "latin1")
    return refuse("is neither in UTF-8 nor in ISO-8859-1, so it cannot be changed over HTTP.");
  if (/<\w+:gwcConfiguration\b/.test(content.text))
    return refuse("has a prefix before its elements, with which it cannot be changed over HTTP.");
  const bytesOf = (text: string): number => Buffer.byteLength(text, encoding);
  // The bytes before the text: the text has no byte order mark.
  const mark = bytes.length - bytesOf(content.text);
  const layers = layerTexts(content).map(({ name, before, text }, i) => ({
    name,
    before: bytesOf(before) + (i === 0 ? mark : 0),
    isBlankBefore: isBlank(before),
    length: bytesOf(text),
  }));
  return ok({ encoding, layers, names });
}

/** Returns whether a text is only white space of XML. */
export const isBlank = (text: string): boolean => /^[ \t\r\n]*$/.test(text);

/** The text of one layer of a file. */
export interface LayerText {
  readonly name: string;
  /** The text between the previous layer, or the beginning of the file, and this layer. */
  readonly before: string;
  /** The text of the layer's element. */
  readonly text: string;
  /** The index after the element. */
  readonly end: number;
}

/** Returns the texts of the layers of a file, in their order. */
export function layerTexts({ text, objects }: FileContent): readonly LayerText[] {
  const layers: LayerText[] = [];
  let at = 0;
  for (const { kind, name, start, end } of objects) {
    if (kind !== "layer" || start === undefined || end === undefined) continue;
    layers.push({ name, before: text.slice(at, start), text: text.slice(start, end), end });
    at = end;
  }
  return layers;
}

/** Returns the hash of a file, by which an edit of the file is recognised. */
export const digestOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
