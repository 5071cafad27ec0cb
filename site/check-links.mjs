// Finds the links and pictures of built pages that lead nowhere.
import { dirname, posix } from "node:path";

/**
 * Returns a sentence for each dead link.
 * @param pages the HTML of each page by its address
 * @param files the addresses of all other files
 */
export function deadLinks(pages, files) {
  const ids = new Map([...pages].map(([address, html]) => [address, idsOf(html)]));
  const problems = new Set();
  for (const [address, html] of pages) {
    for (const [, link] of html.matchAll(/ (?:href|src|data-index)="([^"]*)"/g)) {
      if (/^(?:https?|mailto):/.test(link)) continue;
      const [path, anchor] = decodeURI(link.replaceAll("&amp;", "&")).split("#");
      const target = path === "" ? address : posix.normalize(posix.join(dirname(address), path));
      const isThere = ids.has(target) || files.has(target);
      if (/^[a-z]+:/.test(link) || target.startsWith("..") || !isThere)
        problems.add(`${address}: nothing is at ${link}`);
      else if (anchor !== undefined && ids.get(target)?.has(anchor) !== true)
        problems.add(`${address}: ${link} has no heading #${anchor}`);
    }
  }
  return [...problems];
}

const idsOf = (html) => new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id));
