import { escapeHtml } from "../../lib/text/escape.ts";
import { NOT_FOUND, refusalText } from "../errors.ts";
import { type Answer, pageAnswer, redirect } from "../reply.ts";
import type { PublicRequest, PublicResource, Route } from "../resource.ts";
import { builtFileNamed, CONSOLE_FILES, fileAnswer } from "./built-files.ts";
import { ICON } from "./icon.ts";

/**
 * The route of the console's shell: `/`, and all addresses of the console under `/ui/`. The shell is public and
 * contains no data, which the console requests from `/api/v1`.
 */
export const shellRoute: Route = {
  resourceAt: ([first, ...more]) =>
    first === undefined || first === "ui" ? { document: (request) => shellAnswer(request, more) } : undefined,
};

function shellAnswer({ mount, headers }: PublicRequest, more: readonly string[]): Answer {
  // Only browsers use addresses of the console.
  if (more.length > 0 && headers.accept !== undefined && !/text\/html|text\/\*|\*\/\*/i.test(headers.accept))
    return refusalText(NOT_FOUND);
  return pageAnswer(200, shellPage(mount), { "Referrer-Policy": "same-origin" });
}

function shellPage(mount: string): string {
  const m = escapeHtml(mount);
  const script = builtFileNamed(/^console-\w+\.js$/);
  const style = builtFileNamed(/^console-\w+\.css$/);
  return `<!DOCTYPE html>
<html lang="en" data-base="${m}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Nuthatch</title>
<link rel="icon" href="${m}/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${m}/assets/ui/${style}">
<script type="module" src="${m}/assets/ui/${script}"></script></head>
<body><div id="app"></div><noscript><p>The console needs JavaScript. The <a href="${m}/docs">documentation</a> has the command line.</p></noscript></body></html>
`;
}

/** The route of `/assets/…`. Its files are public, because they contain no data. It serves no other files. */
export const assetRoute: Route = {
  resourceAt: ([first, name = "", file, ...more]) => {
    if (first !== "assets" || more.length > 0) return undefined;
    if (file === undefined) return name === "icon.svg" ? ICON_RESOURCE : undefined;
    const found = name === "ui" ? CONSOLE_FILES.get(file) : undefined;
    return found && { document: (request) => fileAnswer(found, request) };
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

/**
 * `/home`, `/demo` and `/demo/LAYER`, addresses of GeoWebCache's pages: they redirect to the console, which shows the
 * same data.
 */
export const homeRoute: Route = {
  resourceAt: ([first, layer, ...more]) => {
    if (more.length > 0 || (first !== "demo" && (first !== "home" || layer !== undefined))) return undefined;
    const target = layer === undefined || layer === "" ? "/" : `/ui/layers/${encodeURIComponent(layer)}`;
    return { document: ({ mount }) => redirect(`${mount}${target}`) };
  },
};
