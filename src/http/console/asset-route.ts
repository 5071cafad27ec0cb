import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Answer } from "../reply.ts";
import type { Route } from "../resource.ts";
import { ICON, SCRIPT, STYLE } from "./assets.ts";

interface Asset {
  readonly type: string;
  readonly read: () => string | Uint8Array;
}

const packageFile = (name: string) => (): Uint8Array => readFileSync(createRequire(import.meta.url).resolve(name));

/** The static files of the page. No other file is served. */
const ASSETS: Readonly<Record<string, Asset>> = {
  "/assets/page.css": { type: "text/css; charset=utf-8", read: () => STYLE },
  "/assets/page.js": { type: "text/javascript; charset=utf-8", read: () => SCRIPT },
  "/assets/icon.svg": { type: "image/svg+xml", read: () => ICON },
  "/assets/leaflet.css": { type: "text/css; charset=utf-8", read: packageFile("leaflet/dist/leaflet.css") },
  "/assets/leaflet.js": { type: "text/javascript; charset=utf-8", read: packageFile("leaflet/dist/leaflet.js") },
};

const stored = new Map<string, string | Uint8Array>();

/** Returns the route of `/assets/…`: the files are public, because they hold no data. */
export const assetRoute: Route = {
  resourceAt: (_, path) => {
    const asset = Object.hasOwn(ASSETS, path) ? ASSETS[path] : undefined;
    return asset && { document: () => assetAnswer(path, asset) };
  },
};

function assetAnswer(path: string, asset: Asset): Answer {
  const body = stored.get(path) ?? asset.read();
  stored.set(path, body);
  return { status: 200, type: asset.type, body, headers: { "Cache-Control": "public, max-age=3600" } };
}
