/** A layer in the text of a configuration. */
export interface LayerItem {
  /** The beginning of its line. */
  readonly start: number;
  readonly end: number;
  /** Where the value begins, behind the hyphen; undefined: in a later line. */
  readonly value: number | undefined;
}

/** A text whose list of layers is taken out. */
export interface SplitText {
  /** The text with an empty list in place of the items. */
  readonly head: string;
  readonly items: readonly LayerItem[];
  /** The part of the text that was taken out. */
  readonly removed: { readonly start: number; readonly end: number };
  /** The length of the text that replaces it in `head`. */
  readonly inserted: number;
}

/** Shorter texts are parsed as a whole in no time. */
const LEAST_LENGTH = 100_000;
/** Anchors, aliases, directives and further documents concern more than one layer. */
const TIES = /(?:^|[\s,[{:-])[&*]\S|^(?:%|---|\.\.\.)/m;
const LAYERS = /^layers:[ \t]*(?:#.*)?\r?\n/gm;

/**
 * Finds the layers in a long text: the items of a block list under `layers:`, which begin in one column. Undefined: the
 * text is short, or has another form.
 */
export function splitLayers(text: string, leastLength = LEAST_LENGTH): SplitText | undefined {
  if (text.length < leastLength || TIES.test(text)) return undefined;
  const [key, ...others] = text.matchAll(LAYERS);
  if (key === undefined || others.length > 0) return undefined;
  const start = key.index + key[0].length;
  const items: { start: number; end: number; value: number | undefined }[] = [];
  let indent: number | undefined;
  let at = start;
  for (let next = at; at < text.length; at = next) {
    const newline = text.indexOf("\n", at);
    next = newline < 0 ? text.length : newline + 1;
    const first = firstCharacter(text, at, next);
    // Comments and empty lines belong to the layer before.
    if (first === undefined) continue;
    indent ??= first - at;
    const isHyphen = text[first] === "-" && /\s/.test(text[first + 1] ?? "\n");
    if (first - at < indent || (first - at === indent && !isHyphen)) break;
    if (first - at > indent) continue;
    const last = items.at(-1);
    if (last !== undefined) last.end = at;
    items.push({ start: at, end: at, value: firstCharacter(text, first + 1, next) });
  }
  const [firstItem] = items;
  const last = items.at(-1);
  if (firstItem === undefined || last === undefined || indent === undefined) return undefined;
  last.end = at;
  const inserted = `${" ".repeat(indent)}[]\n`;
  // A list in a text of no indentation is no value of its key in this form.
  if (indent === 0) return undefined;
  return {
    head: text.slice(0, firstItem.start) + inserted + text.slice(at),
    items,
    removed: { start: firstItem.start, end: at },
    inserted: inserted.length,
  };
}

/** Returns where a line has its first character that is neither blank nor a comment's. */
function firstCharacter(text: string, from: number, to: number): number | undefined {
  let at = from;
  while (at < to && (text[at] === " " || text[at] === "\t" || text[at] === "\r" || text[at] === "\n")) at++;
  return at >= to || text[at] === "#" ? undefined : at;
}
