import { POLICY } from "../console/policy.ts";
import { NOT_FOUND, refusalText } from "../errors.ts";
import { type Answer, HTML_TYPE } from "../reply.ts";
import type { PublicRequest, Route } from "../resource.ts";
import { isNotModified } from "../tiles/conditional.ts";
import { accepts, packedTag } from "../tiles/content-coding.ts";
import { type DocsFile, docsFile, hasDocs } from "./docs-files.ts";

/**
 * The route of the documentation, `/docs/`. It is public as the files of the console are: it is the same on every server
 * and holds no data.
 */
export const docsRoute: Route = {
  resourceAt: ([first, ...more], { path }) => {
    if (first !== "docs") return undefined;
    const isFolder = path.endsWith("/");
    const name = [...more, ...(isFolder || more.length === 0 ? ["index.html"] : [])].join("/");
    return { document: (request) => docsAnswer(request, name, more.length === 0 && !isFolder) };
  },
};

function docsAnswer(request: PublicRequest, name: string, isWithoutSlash: boolean): Answer {
  // Links of the pages are relative: without the slash they would lead to the console.
  if (isWithoutSlash) return redirect(`${request.mount}/docs/`);
  if (!hasDocs()) return NOT_BUILT;
  const file = docsFile(name);
  if (file !== undefined) return fileAnswer(file, request);
  // The address of a folder may lack its slash, and that of a page its `.html`.
  if (docsFile(`${name}/index.html`) !== undefined) return redirect(`${request.mount}/docs/${encodeURI(name)}/`);
  if (docsFile(`${name}.html`) !== undefined) return redirect(`${request.mount}/docs/${encodeURI(name)}.html`);
  return refusalText(NOT_FOUND);
}

const redirect = (location: string): Answer => ({
  status: 302,
  type: "text/plain",
  body: "",
  headers: { Location: location },
});

function fileAnswer(file: DocsFile, { headers }: PublicRequest): Answer {
  const coding = file.isCompressible && accepts(headers["accept-encoding"], "gzip") ? "gzip" : "identity";
  const etag = packedTag(file.etag, coding);
  const kept = {
    ETag: etag,
    // A page has the same address in the next version: browsers ask whether it has changed.
    "Cache-Control": file.isNamedByContent ? "public, max-age=31536000, immutable" : "no-cache",
    ...(file.isCompressible ? { Vary: "Accept-Encoding" } : {}),
  };
  if (isNotModified(headers, etag, undefined)) return { status: 304, body: "", headers: kept };
  return {
    status: 200,
    type: file.type,
    body: file.read(coding === "gzip"),
    headers: {
      ...kept,
      ...(coding === "gzip" ? { "Content-Encoding": "gzip" } : {}),
      ...(file.type === HTML_TYPE ? { "Content-Security-Policy": POLICY, "Referrer-Policy": "same-origin" } : {}),
    },
  };
}

const NOT_BUILT: Answer = {
  status: 404,
  type: HTML_TYPE,
  body: `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Nuthatch documentation</title></head>
<body><h1>The documentation is not built</h1>
<p>Packages of Nuthatch have it. In a clone, run <code>npm run docs</code>, then load this page again.
The pages are also Markdown files in the folder <code>docs</code>.</p></body></html>
`,
  headers: { "Content-Security-Policy": POLICY },
};
