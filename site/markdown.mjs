// Markdown as GitHub shows it: the same ids of headings, links between files, tables. Code is coloured by classes,
// because the Content-Security-Policy of the program allows no style in an attribute.
import { createRequire } from "node:module";
import { dirname, posix } from "node:path";
import GithubSlugger from "github-slugger";
import markdownIt from "markdown-it";
import { addressOf, PROJECT_FILES } from "./navigation.mjs";

const require = createRequire(import.meta.url);
const prism = require("prismjs");
require("prismjs/components/")(["bash", "css", "docker", "http", "ini", "json", "nginx", "sql", "typescript", "yaml"]);
const LANGUAGES = {
  sh: "bash",
  shell: "bash",
  console: "bash",
  yml: "yaml",
  ts: "typescript",
  xml: "markup",
  html: "markup",
};

/** Whether a Markdown file is a page of the site. */
export const isPage = (file) => PROJECT_FILES.includes(file) || /^docs\/.*\.md$/.test(file);

/** Returns the address of a file of the repository, relative to the root of the site. */
const siteAddress = (file) =>
  isPage(file) ? addressOf(file) : file.startsWith("docs/") ? file.slice("docs/".length) : `files/${file}`;

/**
 * Returns the renderer of pages. Its environment has `file`, the path of the Markdown file in the repository, and
 * `links`, to which it adds the files outside of docs/ that the page links to.
 */
export function createMarkdown() {
  const markdown = markdownIt({
    html: true,
    highlight: (code, language) => {
      const name = LANGUAGES[language] ?? language;
      const grammar = prism.languages[name];
      return grammar === undefined ? "" : prism.highlight(code, grammar, name);
    },
  });
  markdown.core.ruler.push("headings", addHeadingIds);
  markdown.core.ruler.push("links", (state) => rewriteLinks(state.tokens, state.env));
  markdown.renderer.rules.table_open = () => '<div class="scroll" tabindex="0"><table>\n';
  markdown.renderer.rules.table_close = () => "</table></div>\n";
  // A marker of the tests, such as <!-- not run: … -->, is not for readers. <!-- parts --> is for the layout.
  markdown.renderer.rules.html_block = (tokens, index) =>
    /^<!--(?! parts ).*-->\s*$/s.test(tokens[index].content) ? "" : tokens[index].content;
  return markdown;
}

function addHeadingIds({ tokens, env }) {
  const slugger = new GithubSlugger();
  tokens.forEach((token, index) => {
    if (token.type !== "heading_open") return;
    const inline = tokens[index + 1];
    const text = inline.children.map(({ type, content }) => (/text|code/.test(type) ? content : "")).join("");
    const id = slugger.slug(text);
    token.attrSet("id", id);
    env.outline?.push({ level: Number(token.tag.slice(1)), id, text });
  });
}

function rewriteLinks(tokens, env) {
  for (const token of tokens) {
    if (token.children) rewriteLinks(token.children, env);
    const name = token.type === "link_open" ? "href" : token.type === "image" ? "src" : undefined;
    const value = name && token.attrGet(name);
    if (!value || /^(?:[a-z][a-z0-9+.-]*:|#|\/)/i.test(value)) continue;
    const [path, anchor] = value.split("#");
    const file = posix.normalize(posix.join(dirname(env.file), decodeURI(path)));
    const target = siteAddress(file);
    if (target.startsWith("files/")) env.links?.add(file);
    const relative = posix.relative(dirname(addressOf(env.file)), target);
    token.attrSet(name, anchor === undefined ? relative : `${relative}#${anchor}`);
  }
}
