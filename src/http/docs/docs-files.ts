import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A file of the built documentation (`bin/build-docs.mjs`). */
export interface DocsFile {
  readonly type: string;
  /** Whether the name changes with the content. */
  readonly isNamedByContent: boolean;
  /** Whether the build has written a compressed twin. */
  readonly isCompressible: boolean;
  /** A quoted strong tag of the uncompressed bytes. */
  readonly etag: string;
  /** Reads the bytes, compressed by gzip or not. */
  readonly read: (isCompressed: boolean) => Buffer;
}

/** Markdown and examples are shown by browsers as text, instead of being downloaded. */
const TEXT = "text/plain; charset=utf-8";
const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  json: "application/json",
  svg: "image/svg+xml",
  png: "image/png",
};
const COMPRESSED = /\.(?:html|css|js|json|svg|md)$/;

/** The folder beside the built program, or in `dist` when the sources run, with a slash at the end. */
const FOLDERS = ["./docs/", "../../../dist/docs/"].map((path) => fileURLToPath(new URL(path, import.meta.url)));

let found: ReadonlyMap<string, () => DocsFile> | undefined;

/**
 * Returns the file of a path such as `how-to/install.html`. Only files that the build has made are found: the path of a
 * request never becomes a path of the file system. Undefined: there is no such file.
 */
export const docsFile = (path: string): DocsFile | undefined => (found ?? list())?.get(path)?.();

/** Returns whether the documentation has been built. A build is noticed while the server runs. */
export const hasDocs = (): boolean => (found ?? list()) !== undefined;

function list(): ReadonlyMap<string, () => DocsFile> | undefined {
  // While the build runs this page is not there yet.
  const folder = FOLDERS.find((path) => existsSync(`${path}index.html`));
  if (folder === undefined) return undefined;
  const files = new Map<string, () => DocsFile>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = `${entry.parentPath}/${entry.name}`.slice(folder.length).replaceAll("\\", "/").replace(/^\//, "");
    if (entry.isFile() && !path.endsWith(".gz")) files.set(path, readOnce(folder, path));
  }
  found = files;
  return files;
}

/** Returns the function that returns a file; the tag is computed by the first call. */
function readOnce(folder: string, path: string): () => DocsFile {
  let file: DocsFile | undefined;
  const read = (isCompressed: boolean): Buffer => readFileSync(`${folder}${path}${isCompressed ? ".gz" : ""}`);
  return () => {
    file ??= {
      type: TYPES[path.slice(path.lastIndexOf(".") + 1)] ?? TEXT,
      isNamedByContent: /-[0-9A-Z]{8}\.(?:css|js)$/.test(path),
      isCompressible: COMPRESSED.test(path),
      etag: `"${createHash("sha256").update(read(false)).digest("base64url").slice(0, 22)}"`,
      read,
    };
    return file;
  };
}
