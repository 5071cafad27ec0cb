import { isMap } from "../../../lib/is-map.ts";
import { escapeHtml } from "../../../lib/text/escape.ts";
import { builtFileNamed } from "../../console/built-files.ts";

/*
 * The pages of `/ogc` for browsers. A page shows every member of the JSON document at the same address, so that both
 * have the same content (OGC 19-072, 10.2).
 */

export interface PageOptions {
  readonly title: string;
  /** The address of `/ogc`. */
  readonly base: string;
  /** The address of the document, without a query. */
  readonly address: string;
  /** The address of the tile set that the page shows as a map. Absent: no map. */
  readonly tileset?: string | undefined;
}

/** Returns a document as an HTML page. */
export function ogcPage(document: unknown, { title, base, address, tileset }: PageOptions): string {
  const mount = escapeHtml(base.slice(0, -"/ogc".length));
  const style = `${mount}/assets/ui/${builtFileNamed(/^ogc-page-\w+\.css$/)}`;
  const script = `${mount}/assets/ui/${builtFileNamed(/^ogc-page-\w+\.js$/)}`;
  const map =
    tileset === undefined
      ? ""
      : `<div id="map" class="map" role="region" aria-label="Map" data-tileset="${escapeHtml(pathOf(tileset))}?f=json"></div>
<noscript><p>The map needs JavaScript.</p></noscript>
`;
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Nuthatch</title>
<link rel="icon" href="${mount}/assets/icon.svg" type="image/svg+xml">
<link rel="alternate" href="${escapeHtml(address)}?f=json" type="application/json">
<link rel="stylesheet" href="${style}">
${tileset === undefined ? "" : `<script type="module" src="${script}"></script>`}</head>
<body><nav aria-label="Service"><a href="${escapeHtml(base)}">OGC API</a><a href="${escapeHtml(base)}/collections">Layers</a><a href="${escapeHtml(base)}/tileMatrixSets">Tile matrix sets</a><a href="${escapeHtml(address)}?f=json">JSON</a></nav>
<main><h1>${escapeHtml(title)}</h1>
${map}${valueHtml(document)}</main></body></html>
`;
}

/**
 * Returns an address of this server without scheme and host: behind a proxy the server may see others than the page,
 * and the page may only read from its own origin.
 */
const pathOf = (address: string): string => address.replace(/^https?:\/\/[^/]+/, "");

function valueHtml(value: unknown): string {
  if (Array.isArray(value)) return listHtml(value);
  if (isMap(value)) return membersHtml(value);
  const text = escapeHtml(String(value));
  return /^https?:\/\/\S+$/.test(text) ? `<a href="${text}">${text}</a>` : text;
}

const membersHtml = (members: Readonly<Record<string, unknown>>): string =>
  `<dl>${Object.entries(members)
    .flatMap(([name, value]) =>
      value === undefined ? [] : `<dt>${escapeHtml(name)}</dt><dd>${valueHtml(value)}</dd>\n`,
    )
    .join("")}</dl>`;

function listHtml(values: readonly unknown[]): string {
  const maps = values.filter(isMap);
  if (maps.length < values.length || maps.length === 0)
    return values.map((one) => (Array.isArray(one) ? escapeHtml(JSON.stringify(one)) : valueHtml(one))).join(", ");
  if (maps.every(isLink)) return `<ul>${maps.map((link) => `<li>${linkHtml(link)}</li>`).join("")}</ul>`;
  if (maps.every(isFlat)) return tableHtml(maps);
  return `<ul class="items">${maps.map((one) => `<li class="item">${membersHtml(one)}</li>\n`).join("")}</ul>`;
}

const isLink = (value: Readonly<Record<string, unknown>>): boolean => "href" in value && "rel" in value;

/** Returns whether a map has no maps in it, so that it fits into a row. */
const isFlat = (value: Readonly<Record<string, unknown>>): boolean =>
  Object.values(value).every((one) => !isMap(one) && !(Array.isArray(one) && one.some(isMap)));

function linkHtml({ rel, href, type, title }: Readonly<Record<string, unknown>>): string {
  const [address, relation] = [escapeHtml(String(href)), escapeHtml(String(rel))];
  const about = `${relation.slice(relation.lastIndexOf("/") + 1)}${type === undefined ? "" : `, ${escapeHtml(String(type))}`}`;
  // A template is the address of no document.
  if (address.includes("{")) return `<code>${address}</code> (${about})`;
  return `<a href="${address}" title="${relation}">${title === undefined ? address : escapeHtml(String(title))}</a> (${about})`;
}

function tableHtml(rows: readonly Readonly<Record<string, unknown>>[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row).filter((name) => row[name] !== undefined)))];
  const cells = (row: Readonly<Record<string, unknown>>): string =>
    names.map((name) => `<td>${row[name] === undefined ? "" : valueHtml(row[name])}</td>`).join("");
  const head = names.map((name) => `<th scope="col">${escapeHtml(name)}</th>`).join("");
  return `<div class="wide"><table><thead><tr>${head}</tr></thead><tbody>${rows.map((row) => `<tr>${cells(row)}</tr>`).join("\n")}</tbody></table></div>`;
}
