import { escapeHtml } from "../../lib/text/escape.ts";
import { CONSOLE_FILES } from "../built-files.ts";
import { NOT_FOUND, refusalText } from "../errors.ts";
import { type Answer, HTML_TYPE } from "../reply.ts";
import type { PublicRequest, Route } from "../resource.ts";
import { POLICY } from "./policy.ts";

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
  return {
    status: 200,
    type: HTML_TYPE,
    body: shellPage(mount),
    headers: { "Content-Security-Policy": POLICY, "Referrer-Policy": "same-origin" },
  };
}

/** @throws if the console has not been built */
function fileNamed(pattern: RegExp): string {
  const name = CONSOLE_FILES.paths?.find((path) => pattern.test(path));
  if (name === undefined) throw new Error("the console has not been built: run npm run build");
  return name;
}

function shellPage(mount: string): string {
  const m = escapeHtml(mount);
  const script = fileNamed(/^console-\w+\.js$/);
  const style = fileNamed(/^console-\w+\.css$/);
  return `<!DOCTYPE html>
<html lang="en" data-base="${m}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Nuthatch</title>
<link rel="icon" href="${m}/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${m}/assets/ui/${style}">
<script type="module" src="${m}/assets/ui/${script}"></script></head>
<body><div id="app"></div><noscript><p>The console needs JavaScript. The <a href="${m}/docs">documentation</a> has the command line.</p></noscript></body></html>
`;
}
