import { SaxesParser } from "saxes";
import { ok, type Result, refuse } from "../result.ts";

/** An element of an XML text. Its positions are indexes of characters in the text. */
export interface XmlElement {
  /** The local name. */
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  /** The text directly inside, with its white space. */
  readonly text: string;
  /** The index of the start tag's `<`, and the index after its `>`. */
  readonly start: number;
  readonly open: number;
  /** The index of the end tag's `<`. Equal to `open` in an element without an end tag. */
  readonly close: number;
  /** The index after the element. */
  readonly end: number;
}

interface Growing extends XmlElement {
  readonly children: Growing[];
  text: string;
  close: number;
  end: number;
}

/** Parses a text and returns its root. Reads no DTD, so an entity that XML does not predefine is a fault. */
export function parseXml(text: string): Result<XmlElement, string> {
  const parser = new SaxesParser({ xmlns: false });
  let fault: string | undefined;
  let root: Growing | undefined;
  const stack: Growing[] = [];
  const add = (piece: string): void => {
    const top = stack.at(-1);
    if (top !== undefined) top.text += piece;
  };
  parser.on("error", (error) => {
    fault ??= error.message;
  });
  parser.on("opentag", ({ name, attributes }) => {
    const open = parser.position;
    // An attribute may hold no `<`, so the last one begins the tag.
    const start = text.lastIndexOf("<", open - 1);
    const element = { name: localName(name), attributes, children: [], text: "", start, open, close: open, end: open };
    stack.at(-1)?.children.push(element);
    root ??= element;
    stack.push(element);
  });
  parser.on("closetag", ({ isSelfClosing }) => {
    const element = stack.pop();
    if (element === undefined) return;
    element.end = parser.position;
    if (!isSelfClosing) element.close = text.lastIndexOf("<", parser.position - 1);
  });
  parser.on("text", add);
  parser.on("cdata", add);
  // Written in one piece, so that positions are indexes of the text.
  parser.write(text).close();
  if (fault !== undefined) return refuse(fault);
  return root === undefined ? refuse("no element") : ok(root);
}

/** Removes the prefix of a name. */
export const localName = (name: string): string => name.slice(name.lastIndexOf(":") + 1);

/** Returns the children with a name. */
export const childrenNamed = (element: XmlElement | undefined, name: string): readonly XmlElement[] =>
  element?.children.filter((child) => child.name === name) ?? [];

/** Returns the first descendant at a path of names. */
export const firstAt = (element: XmlElement | undefined, ...path: readonly string[]): XmlElement | undefined =>
  path.reduce((at: XmlElement | undefined, name) => at?.children.find((child) => child.name === name), element);
