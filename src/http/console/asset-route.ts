import { CONSOLE_FILES, fileAnswer } from "../built-files.ts";
import type { PublicResource, Route } from "../resource.ts";
import { ICON } from "./icon.ts";

/** The route of `/assets/…`. Its files are public, because they contain no data. It serves no other files. */
export const assetRoute: Route = {
  resourceAt: ([first, name = "", file, ...more]) => {
    if (first !== "assets" || more.length > 0) return undefined;
    if (file === undefined) return name === "icon.svg" ? ICON_RESOURCE : undefined;
    return name === "ui" ? consoleResource(file) : undefined;
  },
};

const ICON_RESOURCE: PublicResource = {
  document: () => ({
    status: 200,
    type: "image/svg+xml",
    body: ICON,
    headers: { "Cache-Control": "public, max-age=3600" },
  }),
};

function consoleResource(name: string): PublicResource | undefined {
  const file = CONSOLE_FILES.get(name);
  return file && { document: (request) => fileAnswer(file, request) };
}
