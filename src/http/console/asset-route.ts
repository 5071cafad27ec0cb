import { CONSOLE_FILES, fileAnswer } from "../built-files.ts";
import type { PublicResource, Route } from "../resource.ts";
import { ICON, STYLE } from "./plain-style.ts";

interface Asset {
  readonly type: string;
  readonly body: string;
}

/** Static files that are part of the program. */
const ASSETS: ReadonlyMap<string, Asset> = new Map([
  ["page.css", { type: "text/css; charset=utf-8", body: STYLE }],
  ["icon.svg", { type: "image/svg+xml", body: ICON }],
]);

/** The route of `/assets/…`. Its files are public, because they contain no data. It serves no other files. */
export const assetRoute: Route = {
  resourceAt: ([first, name = "", file, ...more]) => {
    if (first !== "assets" || more.length > 0) return undefined;
    if (file === undefined) return assetResource(ASSETS.get(name));
    return name === "ui" ? consoleResource(file) : undefined;
  },
};

const assetResource = (asset: Asset | undefined): PublicResource | undefined =>
  asset && {
    document: () => ({ status: 200, ...asset, headers: { "Cache-Control": "public, max-age=3600" } }),
  };

function consoleResource(name: string): PublicResource | undefined {
  const file = CONSOLE_FILES.get(name);
  return file && { document: (request) => fileAnswer(file, request) };
}
