import type { LayerName } from "../../layer/tile-set.ts";
import { escapeHtml } from "../../lib/text/escape.ts";
import type { KilledTask } from "../../plan/job/job-request.ts";

/** Returns a complete HTML page. `body` is HTML. */
const page = (title: string, body: string): string =>
  `<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title></head>` +
  `<body><h1>${escapeHtml(title)}</h1>${body}</body></html>\n`;

const wayBack = (home: string): string => `<p><a href="${escapeHtml(home)}">To the page of this server</a></p>`;

const STATES = ["PENDING", "RUNNING"] as const;

/**
 * Returns the answer to a kill (`docs/reference/wire-format.md`, Kill): each killed task in GWC's format.
 * @param words the request as a sentence: `Requested to terminate all tasks.`
 * @param home the address of the server's page
 */
export function killedPage(killed: readonly KilledTask[], words: string, home: string): string {
  const items = killed.map((task) => {
    const text = `[${task.id}: ${task.layer}, ${task.type.toUpperCase()}, ${STATES[task.status]}]`;
    return `<li>${escapeHtml(text)}</li>`;
  });
  const list = items.length === 0 ? "<p>There were none.</p>" : `<ul>${items.join("")}</ul>`;
  return page("Tasks ended", `<p>${escapeHtml(words)}</p>${list}${wayBack(home)}`);
}

/** Returns the answer to a seed request from an HTML form (`docs/reference/wire-format.md`, Task list). */
export function seedSubmittedPage(layer: LayerName, taskIds: readonly number[], home: string): string {
  const items = taskIds.map((id) => `<li>${id}</li>`).join("");
  return page("Task submitted", `<p>Tasks of layer ${escapeHtml(layer)}:</p><ul>${items}</ul>${wayBack(home)}`);
}

/** Returns the answer to GeoWebCache's form that truncates all layers, with GeoWebCache's sentence. */
export function truncatedPage(layers: readonly string[], home: string): string {
  const words = layers.length === 0 ? "No Layers were truncated" : `Truncated Layers:${layers.join(",")}`;
  return page("Layers truncated", `<p>${escapeHtml(words)}</p>${wayBack(home)}`);
}

/**
 * Returns the body of the 405 for a browser that opens `/rest/seed[/<layer>]`, the address of GWC's form.
 * @param home the path of the server's page
 */
export function methodPage(allowed: readonly string[], home: string): string {
  const methods = escapeHtml(allowed.join(", "));
  return page("Method not allowed", `<p>Allowed here: ${methods}.</p>${wayBack(home)}`);
}
