import { refuse } from "../../lib/result.ts";
import { escapeHtml } from "../../lib/text/escape.ts";
import { ICON, LOGO } from "../console/icon.ts";
import { HTML_TYPE, textAnswer } from "../reply.ts";
import { type Reply, type Route, reading } from "../resource.ts";
import { refusedAccept } from "./document-form.ts";

/** The resources on the index page, as in GeoWebCache. */
const RESOURCES = ["layers", "gridsets", "blobstores", "global", "seed.json", "masstruncate", "diskquota"];

/** The style sheet `gwc.css`. Pages of other programs link to the one of GeoWebCache. */
const STYLE = "body { font: 15px/1.5 system-ui, sans-serif; }\n";

interface PageFile {
  readonly type: string;
  readonly body: string | Uint8Array;
}

/** Files of GeoWebCache's pages to which pages of other programs link. */
const FILES: ReadonlyMap<string, PageFile> = new Map<string, PageFile>([
  ["gwc.css", { type: "text/css; charset=utf-8", body: STYLE }],
  ["geowebcache_logo.png", { type: "image/png", body: LOGO }],
  ["geowebcache_logo.svg", { type: "image/svg+xml", body: ICON }],
]);

/** `GET /rest`, and the public `/rest/web/FILE`. */
export const indexRoute: Route = {
  resourceAt: ([first, second, file, ...more]) => {
    if (first !== "rest") return undefined;
    if (second === undefined)
      return {
        methods: {
          GET: reading(async ({ base, headers }): Promise<Reply> => {
            const refused = refusedAccept(headers.accept, ["text/html"]);
            if (refused !== undefined) return refuse(refused);
            const links = RESOURCES.map((name) => `<li><a href="${escapeHtml(base)}/rest/${name}">${name}</a></li>`);
            const body = `<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Nuthatch: rest</title></head><body>\n<h1>Resources available from here:</h1>\n<ul>\n${links.join("\n")}\n</ul>\n</body></html>\n`;
            return { status: 200, type: HTML_TYPE, body };
          }),
        },
      };
    if (second !== "web" || file === undefined) return undefined;
    const found = more.length === 0 ? FILES.get(file) : undefined;
    return {
      // That a file does not exist is public too.
      document: () =>
        found === undefined
          ? textAnswer(404, "There is nothing at this path.")
          : { status: 200, ...found, headers: { "Cache-Control": "public, max-age=3600" } },
    };
  },
};
