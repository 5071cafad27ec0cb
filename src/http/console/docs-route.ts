import { NOT_FOUND, refusalText } from "../errors.ts";
import { type Answer, pageAnswer, redirect } from "../reply.ts";
import type { PublicRequest, Route } from "../resource.ts";
import { DOCS_FILES, fileAnswer } from "./built-files.ts";

/**
 * The route of the documentation, `/docs/`. It is public like the files of the console: it is equal on all servers and
 * contains no data.
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
  // Links of the pages are relative. Without the slash they would lead to the console.
  if (isWithoutSlash) return redirect(`${request.mount}/docs/`);
  if (DOCS_FILES.paths === undefined) return NOT_BUILT;
  const file = DOCS_FILES.get(name);
  if (file !== undefined) return fileAnswer(file, request);
  // The address of a folder may omit its slash, and the address of a page its `.html`.
  if (DOCS_FILES.get(`${name}/index.html`) !== undefined) return redirect(`${request.mount}/docs/${encodeURI(name)}/`);
  if (DOCS_FILES.get(`${name}.html`) !== undefined) return redirect(`${request.mount}/docs/${encodeURI(name)}.html`);
  return refusalText(NOT_FOUND);
}

const NOT_BUILT = pageAnswer(
  404,
  `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Nuthatch documentation</title></head>
<body><h1>The documentation is not built</h1>
<p>Packages of Nuthatch have it. In a clone, run <code>npm run docs</code>, then load this page again.
The pages are also Markdown files in the folder <code>docs</code>.</p></body></html>
`,
);
