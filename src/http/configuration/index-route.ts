import { escapeHtml } from "../../lib/escape.ts";
import { ICON, STYLE } from "../console/plain-style.ts";
import { HTML_TYPE } from "../reply.ts";
import { type Route, reading } from "../resource.ts";

/** The resources that the index names, as GeoWebCache's does. */
const RESOURCES = ["layers", "gridsets", "blobstores", "global", "seed.json", "masstruncate", "diskquota"];

/** The files of GeoWebCache's own pages that other pages link to. */
const FILES: ReadonlyMap<string, { readonly type: string; readonly body: string }> = new Map([
  ["gwc.css", { type: "text/css; charset=utf-8", body: STYLE }],
  ["geowebcache_logo.svg", { type: "image/svg+xml", body: ICON }],
]);

/** `GET /rest`, and `/rest/web/FILE` for everybody. */
export const indexRoute: Route = {
  resourceAt: ([first, second, file, ...more]) => {
    if (first !== "rest") return undefined;
    if (second === undefined)
      return {
        methods: {
          GET: reading(async ({ base }) => {
            const links = RESOURCES.map((name) => `<li><a href="${escapeHtml(base)}/rest/${name}">${name}</a></li>`);
            const body = `<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Nuthatch: rest</title></head><body>\n<h1>Resources available from here:</h1>\n<ul>\n${links.join("\n")}\n</ul>\n</body></html>\n`;
            return { status: 200, type: HTML_TYPE, body };
          }),
        },
      };
    const found = second === "web" && file !== undefined && more.length === 0 ? FILES.get(file) : undefined;
    return (
      found && { document: () => ({ status: 200, ...found, headers: { "Cache-Control": "public, max-age=3600" } }) }
    );
  },
};
