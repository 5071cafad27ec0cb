import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Operations } from "../../coordinator/operations.ts";
import type { Catalogue } from "../../layer/catalogue.ts";
import { type Answer, HTML_TYPE, textAnswer } from "../reply.ts";
import type { Route } from "../resource.ts";
import { ICON, SCRIPT, STYLE } from "./assets.ts";
import { mapPage } from "./map-page.ts";

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Returns the route of the page at `/` of each mount. The page shows data, so it needs credentials. */
export function mapPageRoute(parts: { readonly operations: Operations; readonly catalogue: () => Catalogue }): Route {
  return (segments) => {
    if (segments.length > 0) return undefined;
    return {
      methods: {
        GET: {
          need: "read",
          handle: async ({ target, query, catalogue }) => {
            const [rows, usage] = await Promise.all([
              parts.operations.rows(undefined),
              parts.operations.usage({ tileSets: false, layer: undefined }),
            ]);
            const asked = query.get("layer");
            const chosen =
              (asked === null ? undefined : catalogue.layers.get(asked)) ?? [...catalogue.layers.values()][0];
            const body = mapPage({ mount: target.mount, catalogue, chosen, rows, usage });
            return { status: 200, type: HTML_TYPE, body, headers: { "Content-Security-Policy": POLICY } };
          },
        },
      },
    };
  };
}

const packageFile = (name: string) => (): Uint8Array => readFileSync(createRequire(import.meta.url).resolve(name));

/** The static files of the page. They are public; no other file is served. */
const ASSETS: Readonly<Record<string, { readonly type: string; readonly read: () => string | Uint8Array }>> = {
  "/assets/page.css": { type: "text/css; charset=utf-8", read: () => STYLE },
  "/assets/page.js": { type: "text/javascript; charset=utf-8", read: () => SCRIPT },
  "/assets/icon.svg": { type: "image/svg+xml", read: () => ICON },
  "/assets/leaflet.css": { type: "text/css; charset=utf-8", read: packageFile("leaflet/dist/leaflet.css") },
  "/assets/leaflet.js": { type: "text/javascript; charset=utf-8", read: packageFile("leaflet/dist/leaflet.js") },
};

const kept = new Map<string, string | Uint8Array>();

export function assetAnswer(path: string, method: string): Answer {
  const asset = Object.hasOwn(ASSETS, path) ? ASSETS[path] : undefined;
  if (asset === undefined) return textAnswer(404, "There is nothing at this path.");
  const allow = { Allow: "GET, HEAD, OPTIONS" };
  if (method === "OPTIONS") return { status: 200, body: "", headers: allow };
  if (method !== "GET" && method !== "HEAD")
    return textAnswer(405, `Method ${method} is not allowed here; allowed: ${allow.Allow}`, allow);
  const body = kept.get(path) ?? asset.read();
  kept.set(path, body);
  return { status: 200, type: asset.type, body, headers: { "Cache-Control": "public, max-age=3600" } };
}
