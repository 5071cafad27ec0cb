import { CORE_SCHEMA, load } from "js-yaml";

/** What the parsers read differently, or one of them refuses. A text with it is read by the slower parser. */
const MAY_DIFFER =
  /[\t\u0085\u2028\u2029\ufeff]|\r(?!\n)|<<|(?:^|[\s,[{:-])[!?&*]|[,[{]\s*:|,:|\d_|[-+]\.|\b0b|\de\+?\d{3}|["'\]}]#|^\s*-\s*$|(?:[}\]~]|null)\s*:/im;

/**
 * Reads a text of YAML without the places of its values, which is faster.
 * Undefined: the text has a mistake, or it is not certain that both parsers read the same.
 */
export function quickYaml(text: string): unknown {
  if (MAY_DIFFER.test(text) || !text.split("\n").every(isClosed)) return undefined;
  try {
    return load(text, { schema: CORE_SCHEMA });
  } catch {
    // The slower parser tells where the mistake is.
    return undefined;
  }
}

/** Returns whether the quotes and brackets of a line are closed in it. */
function isClosed(line: string): boolean {
  let depth = 0;
  let quotes = 0;
  for (const character of line) {
    if (character === "[" || character === "{") depth++;
    else if (character === "]" || character === "}") depth--;
    else if (character === '"' || character === "'") quotes++;
  }
  return depth === 0 && quotes % 2 === 0;
}
