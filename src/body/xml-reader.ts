import { SaxesParser } from "saxes";
import { ok, type Result, refuse } from "../lib/result.ts";
import { type Fault, positionIn } from "./body-text.ts";
import { type Field, MAX_DEPTH, MAX_FIELDS } from "./field.ts";

interface Open {
  readonly name: string;
  readonly kind: "element";
  readonly children: Open[];
  text: string;
  readonly line: number;
  readonly column: number;
  readonly start?: number;
  end?: number;
}

/**
 * Parses XML 1.0 to fields. Removes namespace prefixes, bound or not. Ignores comments and processing instructions.
 * Ignores attributes unless `attributes` is "read": then an attribute `x` becomes a child `@x`, as in JSON. Never reads
 * declarations of namespaces. Refuses a DOCTYPE, so there are no entities to expand. Accepts white space before the
 * declaration.
 */
export function readXml(
  text: string,
  attributes: "ignore" | "read" = "ignore",
  mostFields = MAX_FIELDS,
): Result<Field, Fault> {
  // saxes throws for half of a surrogate pair.
  const half = text.search(/\p{Surrogate}/u);
  if (half >= 0) return refuse({ reason: "half of a surrogate pair", ...positionIn(text, half) });
  const blank = /^[\ufeff\s]*/.exec(text)?.[0] ?? "";
  const begin = positionIn(blank, blank.length);
  const parser = new SaxesParser({ xmlns: false, position: true });
  let fault: Fault | undefined;
  let root: Open | undefined;
  let count = 0;
  const stack: Open[] = [];
  /** The local name of each element name. Elements with the same name share one string, which is compared quickly. */
  const names = new Map<string, string>();
  const localName = (name: string): string => {
    const known = names.get(name);
    if (known !== undefined) return known;
    const local = name.slice(name.lastIndexOf(":") + 1);
    names.set(name, local);
    return local;
  };

  /**
   * Returns the parser's position minus `back` characters, because the parser has already read past the reported
   * construct.
   */
  const here = (back: number): { readonly line: number; readonly column: number } => ({
    line: begin.line + parser.line - 1,
    column: Math.max(1, (parser.line === 1 ? begin.column - 1 : 0) + parser.column - back + 1),
  });
  const fail = (reason: string, back: number): void => {
    fault ??= { reason, ...here(back) };
  };
  const addText = (piece: string): void => {
    const top = stack.at(-1);
    if (top !== undefined) top.text += piece;
  };

  parser.on("error", (error) => fail(error.message.replace(/^\d+:\d+: /, "").replace(/\.$/, ""), 1));
  parser.on("doctype", () => fail("a DOCTYPE, which is not allowed", 1));
  parser.on("opentagstart", (tag) => {
    if (fault !== undefined) return;
    const name = localName(tag.name);
    const length = tag.name.length + 2;
    const { line, column } = here(length);
    const start = blank.length + parser.position - length;
    const open: Open = { name, kind: "element", children: [], text: "", line, column, start, end: start };
    count += 1;
    if (count > mostFields) fail(`more than ${mostFields} elements`, 1);
    else if (stack.length >= MAX_DEPTH) fail(`elements nested deeper than ${MAX_DEPTH}`, 1);
    stack.at(-1)?.children.push(open);
    root ??= open;
    stack.push(open);
  });
  parser.on("attribute", ({ name, value }) => {
    const top = stack.at(-1);
    count += 1;
    if (count > mostFields) fail(`more than ${mostFields} elements and attributes`, 1);
    if (attributes === "ignore" || fault !== undefined || top === undefined || /^xmlns(?::|$)|:/.test(name)) return;
    top.children.push({
      name: `@${name}`,
      kind: "element",
      children: [],
      text: value,
      line: top.line,
      column: top.column,
    });
  });
  parser.on("closetag", () => {
    const closed = stack.pop();
    if (closed !== undefined) closed.end = blank.length + parser.position;
  });
  parser.on("text", addText);
  parser.on("cdata", addText);

  const rest = text.slice(blank.length);
  // Written in pieces, so that a hostile document is parsed no further than its first fault.
  for (let from = 0; from < rest.length && fault === undefined; from += 8192)
    parser.write(rest.slice(from, from + 8192));
  if (fault === undefined) parser.close();
  if (fault !== undefined) return refuse(fault);
  return root === undefined ? refuse({ reason: "no element", line: 1, column: 1 }) : ok(root);
}
