import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import markdownIt from "markdown-it";

const root = fileURLToPath(new URL("../..", import.meta.url));
const markdown = markdownIt({ html: true });

/** A Markdown file that people read: the pages of the site, and the README. */
export interface Document {
  /** The path in the repository. */
  readonly file: string;
  readonly tokens: ReturnType<typeof markdown.parse>;
}

/** Returns all documents. */
export function readDocuments(): readonly Document[] {
  const pages = readdirSync(`${root}/docs`, { recursive: true, encoding: "utf8" }).map((path) => `docs/${path}`);
  const files = [...pages, ...readdirSync(root)].filter((file) => file.endsWith(".md")).sort();
  return files.map((file) => ({ file, tokens: markdown.parse(readFileSync(`${root}/${file}`, "utf8"), {}) }));
}

/** A block of code, and the content of the comment right before it. */
export interface CodeBlock {
  readonly file: string;
  /** The line of the fence, counted from 1. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** The text of the comment, such as `not run: it needs Docker`; empty: there is none. */
  readonly marker: string;
}

/** Returns the fenced blocks of a document in order. */
export function codeBlocks({ file, tokens }: Document): readonly CodeBlock[] {
  return tokens.flatMap((token, n): readonly CodeBlock[] => {
    if (token.type !== "fence") return [];
    const before = tokens[n - 1];
    const comment = before?.type === "html_block" ? /^<!--\s*(.*?)\s*-->\s*$/s.exec(before.content)?.[1] : undefined;
    const line = (token.map?.[0] ?? 0) + 1;
    return [{ file, line, language: token.info.trim(), text: token.content, marker: comment ?? "" }];
  });
}

/** Returns why a block is not run or checked; undefined: it is. */
export const reasonNotToRun = ({ marker }: CodeBlock): string | undefined => /^not run: (.+)$/s.exec(marker)?.[1];

export const placeOf = ({ file, line }: CodeBlock): string => `${file}:${line}`;
