import type { Answer } from "../reply.ts";
import type { PublicRequest, PublicResource, Route } from "../resource.ts";
import { accepts } from "../tiles/content-coding.ts";
import { consoleFiles, readConsoleFile } from "./console-files.ts";
import { ICON, STYLE } from "./plain-style.ts";

interface Asset {
  readonly type: string;
  readonly body: string;
}

/** The static files that the program itself holds. */
const ASSETS: ReadonlyMap<string, Asset> = new Map([
  ["page.css", { type: "text/css; charset=utf-8", body: STYLE }],
  ["icon.svg", { type: "image/svg+xml", body: ICON }],
]);

/** The files of the console that have been sent, by name and encoding. */
const stored = new Map<string, Buffer>();

/** Returns the route of `/assets/…`: the files are public, because they hold no data. No other file is served. */
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
  const type = consoleFiles().types.get(name);
  return type === undefined ? undefined : { document: (request) => consoleAnswer(name, type, request) };
}

/** Returns a file of the console. Its name changes with its content, so a browser keeps it for good. */
function consoleAnswer(name: string, type: string, { headers }: PublicRequest): Answer {
  const isCompressed = accepts(headers["accept-encoding"], "gzip");
  const key = `${name} ${isCompressed}`;
  const body = stored.get(key) ?? readConsoleFile(name, isCompressed);
  stored.set(key, body);
  return {
    status: 200,
    type,
    body,
    headers: {
      "Cache-Control": "public, max-age=31536000, immutable",
      Vary: "Accept-Encoding",
      ...(isCompressed ? { "Content-Encoding": "gzip" } : {}),
    },
  };
}
