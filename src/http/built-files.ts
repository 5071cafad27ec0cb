import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { etagOf } from "../lib/http/etag.ts";
import { POLICY } from "./console/policy.ts";
import { type Answer, HTML_TYPE } from "./reply.ts";
import type { PublicRequest } from "./resource.ts";
import { isNotModified } from "./tiles/conditional.ts";
import { accepts, packedTag } from "./tiles/content-coding.ts";

/** A file that the build has made. */
interface BuiltFile {
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
  html: HTML_TYPE,
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  json: "application/json",
  svg: "image/svg+xml",
  png: "image/png",
};
const COMPRESSED = /\.(?:html|css|js|json|svg|md)$/;

/**
 * The files of a folder that the build has made. Only they are found: the path of a request never becomes a path of the
 * file system.
 */
export class BuiltFiles {
  /** The folder beside the built program, and in `dist` when the sources run, with a slash at the end. */
  readonly #folders: readonly string[];
  readonly #mark: string;
  #found: ReadonlyMap<string, () => BuiltFile> | undefined;

  /** @param mark a file that is not there while the build runs; "": the folder itself */
  constructor(name: string, mark: string) {
    const paths = [`./${name}/`, `../../dist/${name}/`];
    this.#folders = paths.map((path) => fileURLToPath(new URL(path, import.meta.url)));
    this.#mark = mark;
  }

  /** The paths of the files; undefined: they have not been built. A build is noticed while the server runs. */
  get paths(): readonly string[] | undefined {
    const files = this.#files();
    return files && [...files.keys()];
  }

  /** Returns the file of a path such as `how-to/install.html`. Undefined: there is no such file. */
  get(path: string): BuiltFile | undefined {
    return this.#files()?.get(path)?.();
  }

  #files(): ReadonlyMap<string, () => BuiltFile> | undefined {
    this.#found ??= list(this.#folders.find((path) => existsSync(`${path}${this.#mark}`)));
    return this.#found;
  }
}

/** The files of the built console (`bin/build-console.mjs`). */
export const CONSOLE_FILES = new BuiltFiles("ui", "");
/** The files of the built documentation (`bin/build-docs.mjs`). */
export const DOCS_FILES = new BuiltFiles("docs", "index.html");

function list(folder: string | undefined): ReadonlyMap<string, () => BuiltFile> | undefined {
  if (folder === undefined) return undefined;
  const files = new Map<string, () => BuiltFile>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = `${entry.parentPath}/${entry.name}`.slice(folder.length).replaceAll("\\", "/").replace(/^\//, "");
    if (entry.isFile() && !path.endsWith(".gz")) files.set(path, readOnce(folder, path));
  }
  return files;
}

/** Returns the function that returns a file; the tag is computed by the first call. */
function readOnce(folder: string, path: string): () => BuiltFile {
  let file: BuiltFile | undefined;
  const read = (isCompressed: boolean): Buffer => readFileSync(`${folder}${path}${isCompressed ? ".gz" : ""}`);
  return () => {
    file ??= {
      type: TYPES[path.slice(path.lastIndexOf(".") + 1)] ?? TEXT,
      isNamedByContent: /-[0-9A-Z]{8}\.(?:css|js)$/.test(path),
      isCompressible: COMPRESSED.test(path),
      etag: etagOf(read(false)),
      read,
    };
    return file;
  };
}

export function fileAnswer(file: BuiltFile, { headers }: PublicRequest): Answer {
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
