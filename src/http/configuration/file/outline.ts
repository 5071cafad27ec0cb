import { SaxesParser } from "saxes";

/** Where an element stands in a text: indexes of its characters. */
export interface Outline {
  readonly name: string;
  /** The `<` of the start tag, and the index behind its `>`. */
  readonly start: number;
  readonly open: number;
  /** The `<` of the end tag: `open` in an element without one. */
  readonly close: number;
  /** The index behind the element. */
  readonly end: number;
  readonly children: readonly Outline[];
}

interface Growing {
  readonly name: string;
  readonly start: number;
  open: number;
  close: number;
  end: number;
  readonly children: Growing[];
}

/** Returns where the elements of a well-formed text stand. Removes the prefixes of names. */
export function outlineOf(text: string): Outline | undefined {
  const parser = new SaxesParser({ xmlns: false, position: true });
  const stack: Growing[] = [];
  let root: Growing | undefined;
  parser.on("opentag", ({ name }) => {
    const open = parser.position;
    const found: Growing = {
      name: name.slice(name.lastIndexOf(":") + 1),
      // An attribute may hold no `<`, so the last one begins the tag.
      start: text.lastIndexOf("<", open - 1),
      open,
      close: open,
      end: open,
      children: [],
    };
    stack.at(-1)?.children.push(found);
    root ??= found;
    stack.push(found);
  });
  parser.on("closetag", ({ isSelfClosing }) => {
    const found = stack.pop();
    if (found === undefined) return;
    found.end = parser.position;
    found.close = isSelfClosing ? found.open : text.lastIndexOf("<", parser.position - 1);
  });
  // In one piece, so that positions are indexes of the text.
  parser.write(text);
  parser.close();
  return root;
}
