// The text that the search of the site looks through: one entry for each section of each page.

const ENTITIES = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };
const textOf = (html) =>
  html
    .replace(/<[^>]*>/g, " ")
    .replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity])
    .replace(/\s+/g, " ")
    .replace(/ (?=[.,;:)])|(?<=\() /g, "")
    .trim();

/**
 * Returns the sections of all pages, as `site.ts` reads them, in the order of the addresses: Eleventy gives the pages in
 * the order in which it has rendered them.
 * @param pages the HTML of each page by its address
 */
export function searchSections(pages) {
  const sections = [];
  for (const [address, html] of [...pages].sort(([a], [b]) => (a < b ? -1 : 1))) {
    // Lists of pages are left out, because the pages contain their texts.
    if (address.endsWith("/index.html") && !/class="edit"/.test(html)) continue;
    const article = /<article>(.*)<\/article>/s.exec(html)?.[1] ?? "";
    const parts = article.split(/(?=<h[1-3][ >])/);
    let page = "";
    for (const part of parts) {
      const [, level, id, title, body] = /^<h([1-3])(?: id="([^"]*)")?[^>]*>(.*?)<\/h\1>(.*)$/s.exec(part) ?? [];
      if (title === undefined) continue;
      const heading = textOf(title);
      if (level === "1") page = heading;
      const anchor = level === "1" || id === undefined ? "" : `#${id}`;
      sections.push({ id: sections.length, address: `${address}${anchor}`, page, heading, text: textOf(body) });
    }
  }
  return sections;
}
