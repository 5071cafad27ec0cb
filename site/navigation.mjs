// The navigation: parts are folders of docs/, pages are their files, titles are first headings. order.json names only
// the pages that come first.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The four parts (Diátaxis), in the order of the navigation. */
export const PARTS = [
  { folder: "tutorials", title: "Tutorials", purpose: "Learn Nuthatch step by step." },
  { folder: "how-to", title: "How-to guides", purpose: "Reach one goal: install, secure, move, monitor." },
  { folder: "reference", title: "Reference", purpose: "Look up keys, commands, addresses, metrics, errors." },
  { folder: "explanation", title: "Explanation", purpose: "Understand how Nuthatch works, and why." },
];

/** Pages at the top of docs/, and pages that are files at the root of the repository. */
const PROJECT = { folder: "project", title: "More", purpose: "Questions, words, comparison, changes, security." };
export const PROJECT_FILES = ["CHANGELOG.md", "UPGRADING.md", "SECURITY.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];

/** Returns the address of the page of a Markdown file, relative to the root of the site. */
export const addressOf = (file) =>
  PROJECT_FILES.includes(file)
    ? `project/${file.replace(/\.md$/, "").toLowerCase()}.html`
    : file.replace(/^docs\//, "").replace(/\.md$/, ".html");

/**
 * Returns the parts with their pages, in order.
 * @param root the folder of the repository
 */
export function readNavigation(root) {
  const order = JSON.parse(readFileSync(join(root, "site/order.json"), "utf8"));
  const parts = PARTS.filter(({ folder }) => existsSync(join(root, "docs", folder))).map((part) => ({
    ...part,
    ...readFolder(root, `docs/${part.folder}`, order[part.folder] ?? []),
  }));
  const top = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md") && name !== "index.md");
  const pages = [...top.sort().map((name) => `docs/${name}`), ...PROJECT_FILES].map((file) => readPage(root, file));
  return [...parts, { ...PROJECT, pages, groups: [] }];
}

/** Returns the pages of a folder, and a group for each of its folders. */
function readFolder(root, folder, order) {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  const rank = (name) => (order.indexOf(name) + order.length + 1) % (order.length + 1);
  const pages = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(".md") && entry.name !== "index.md")
    .map((entry) => ({ ...readPage(root, `${folder}/${entry.name}`), rank: rank(entry.name.replace(/\.md$/, "")) }))
    .sort((a, b) => a.rank - b.rank || a.title.localeCompare(b.title, "en"));
  const groups = entries
    .filter((entry) => entry.isDirectory() && existsSync(join(root, folder, entry.name, "index.md")))
    .map((entry) => ({
      ...readPage(root, `${folder}/${entry.name}/index.md`),
      pages: readFolder(root, `${folder}/${entry.name}`, []).pages,
    }))
    .sort((a, b) => a.title.localeCompare(b.title, "en"));
  return { pages, groups };
}

function readPage(root, file) {
  const text = readFileSync(join(root, file), "utf8");
  const title = /^# (.+)$/m.exec(text)?.[1];
  if (title === undefined) throw new Error(`${file}: expected a first heading, such as "# Install"`);
  return { file, address: addressOf(file), title: plain(title), summary: summaryOf(text) };
}

/** Returns the first sentence of a page, without marks. */
function summaryOf(text) {
  const [, after = ""] = text.split(/^# .+$/m);
  const paragraph = after.split(/\n\s*\n/).find((block) => /^[\p{L}`*[]/u.test(block.trim())) ?? "";
  return plain(/^.+?[.!?:](?=\s|$)/s.exec(paragraph.trim())?.[0] ?? paragraph.trim()).replace(/:$/, ".");
}

const plain = (markdown) =>
  markdown
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[`*_]{1,2}(\S(?:.*?\S)?)[`*_]{1,2}/g, "$1")
    .replace(/\s+/g, " ");
