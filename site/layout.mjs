// The layout of every page. No script and no style is inline, and every address is relative, because the program serves
// the site under each of its mounts with a strict Content-Security-Policy.
import { dirname, posix } from "node:path";

const escapeHtml = (text) =>
  text.replace(/[&<>"]/g, (mark) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[mark]);

/**
 * Returns the whole document of a page.
 * @param page `address`, `title`, `file` (undefined: it is generated), `content`, `outline`
 * @param site `parts`, `assets` (the names of script and style), `repository` (undefined: not known), `version`
 */
export function renderPage(page, site) {
  const to = (address) => posix.relative(dirname(page.address), address) || posix.basename(address);
  const isHome = page.address === "index.html";
  const title = isHome ? "Nuthatch documentation" : `${page.title} – Nuthatch`;
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${escapeHtml(title)}</title>
<link rel="icon" href="${to("icon.svg")}" type="image/svg+xml"><link rel="stylesheet" href="${to(site.assets.style)}">
<script type="module" src="${to(site.assets.script)}" data-index="${to(site.assets.index)}" data-root="${to("index.html")}"></script></head>
<body><a class="skip" href="#content">Skip to the content</a>
<header><button type="button" id="menu" aria-expanded="false" aria-controls="navigation" hidden>Menu</button>
<a class="brand" href="${to("index.html")}"><img src="${to("icon.svg")}" width="26" height="26" alt="">Nuthatch</a><span class="version">${escapeHtml(site.version)}</span>
<search id="search" hidden><input type="search" placeholder="Search ( / )" aria-label="Search the documentation" autocomplete="off" spellcheck="false"><div class="results" aria-live="polite" hidden></div></search>
<nav class="top" aria-label="Parts">${site.parts.map((part) => topLink(part, page, to)).join("")}</nav></header>
<div class="columns"><nav id="navigation" aria-label="Pages">${site.parts.map((part) => partList(part, page, to)).join("")}</nav>
<main id="content" tabindex="-1"><article>${page.content.replace("<!-- parts -->", () => cards(site.parts, to))}</article>${foot(page, site, to)}</main>
${outline(page.outline)}</div></body></html>
`;
}

const isIn = (part, page) =>
  page.address.startsWith(`${part.folder}/`) || part.pages.some(({ address }) => address === page.address);

const topLink = (part, page, to) =>
  `<a href="${to(`${part.folder}/index.html`)}"${isIn(part, page) ? ' aria-current="true"' : ""}>${part.title}</a>`;

function partList(part, page, to) {
  const item = ({ address, title }) =>
    `<li><a href="${to(address)}"${address === page.address ? ' aria-current="page"' : ""}>${escapeHtml(title)}</a></li>`;
  const group = (one) => {
    const isOpen = one.address === page.address || one.pages.some(({ address }) => address === page.address);
    return isOpen ? `${item(one)}<li><ul>${one.pages.map(item).join("")}</ul></li>` : item(one);
  };
  const list = `<ul>${part.pages.map(item).join("")}${part.groups.map(group).join("")}</ul>`;
  const isOpen = isIn(part, page) || page.address === "index.html";
  return `<details${isOpen ? " open" : ""}><summary>${part.title}</summary>${list}</details>`;
}

/** Returns the content of the home page: the first pages of each part. */
function cards(parts, to) {
  const links = ({ pages }) =>
    pages.slice(0, 5).map(({ address, title }) => `<li><a href="${to(address)}">${escapeHtml(title)}</a></li>`);
  const card = (part) =>
    `<section><h2><a href="${to(`${part.folder}/index.html`)}">${part.title}</a></h2><p>${part.purpose}</p><ul>${links(part).join("")}</ul></section>`;
  return `<div class="cards">${parts.map(card).join("")}</div>`;
}

/** Returns the content of the page that lists a part. */
export function partContent(part) {
  const item = ({ address, title, summary }) =>
    `<dt><a href="${posix.relative(part.folder, address)}">${escapeHtml(title)}</a></dt><dd>${escapeHtml(summary)}</dd>`;
  return `<h1>${part.title}</h1><p>${part.purpose}</p><dl class="pages">${[...part.pages, ...part.groups].map(item).join("")}</dl>`;
}

function outline(entries) {
  const shown = entries.filter(({ level }) => level === 2 || level === 3);
  if (shown.length < 2) return "";
  const items = shown.map(
    ({ level, id, text }) => `<li class="level-${level}"><a href="#${id}">${escapeHtml(text)}</a></li>`,
  );
  return `<nav class="outline" aria-label="On this page"><h2>On this page</h2><ul>${items.join("")}</ul></nav>`;
}

/** Links to the source, and to the pages before and after. */
function foot(page, site, to) {
  const all = site.parts.flatMap((part) => [...part.pages, ...part.groups.flatMap((group) => [group, ...group.pages])]);
  const at = all.findIndex(({ address }) => address === page.address);
  const link = (other, word, direction) =>
    other
      ? `<a class="${direction}" rel="${direction}" href="${to(other.address)}"><small>${word}</small>${escapeHtml(other.title)}</a>`
      : "";
  const around =
    at < 0
      ? ""
      : `<nav class="around" aria-label="Next pages">${link(all[at - 1], "Previous", "prev")}${link(all[at + 1], "Next", "next")}</nav>`;
  const source = site.repository
    ? `${site.repository}/edit/main/${page.file}`
    : to(page.address.replace(/\.html$/, ".md"));
  const edit = page.file ? `<p class="edit"><a href="${source}">Edit this page</a> <span>${page.file}</span></p>` : "";
  return `<footer>${edit}${around}</footer>`;
}
