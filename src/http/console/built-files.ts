import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { contentEtag } from "../../lib/http/etag.ts";
import { type Answer, HTML_TYPE, POLICY_HEADER } from "../reply.ts";
import type { PublicRequest } from "../resource.ts";
import { isNotModified } from "../tiles/reply/conditional.ts";
import { accepts, packedTag } from "../tiles/reply/content-coding.ts";

/** A file that the build has written. */
interface BuiltFile {
  readonly type: string;
  /** Whether the name changes when the content changes. */
  readonly isNamedByContent: boolean;
  /** Whether the build has also written a compressed file. */
  readonly isCompressible: boolean;
  /** A quoted strong tag of the uncompressed bytes. */
  readonly etag: string;
  /** Reads the bytes, compressed with gzip or not. */
  readonly read: (isCompressed: boolean) => Buffer;
}

/** Browsers show this type as text. They would download Markdown and examples under their own types. */
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
 * The files of a folder that the build has written. Looks up only their names: a request never determines a path of the
 * file system.
 */
export class BuiltFiles {
  /** The folder beside the built program, and, when the sources run, in `dist`; with a slash at the end. */
  readonly #folders: readonly string[];
  readonly #mark: string;
  #found: ReadonlyMap<string, () => BuiltFile> | undefined;

  /** @param mark a file that is missing while the build runs; "" if the folder itself is such a mark */
  constructor(name: string, mark: string) {
    const paths = [`./${name}/`, `../../../dist/${name}/`];
    this.#folders = paths.map((path) => fileURLToPath(new URL(path, import.meta.url)));
    this.#mark = mark;
  }

  /** The paths of the files. Undefined until they have been built. A build is noticed while the server runs. */
  get paths(): readonly string[] | undefined {
    const files = this.#files();
    return files && [...files.keys()];
  }

  /** Returns the file with a path such as `how-to/install.html`. Undefined if the file does not exist. */
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
/**
 * Returns the name of a built file of the console.
 * @throws if the console has not been built
 */
export function builtFileNamed(pattern: RegExp): string {
  const name = CONSOLE_FILES.paths?.find((path) => pattern.test(path));
  if (name === undefined) throw new Error("the console has not been built: run npm run build");
  return name;
}

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

/** Returns a function that reads a file. The first call computes the tag. */
function readOnce(folder: string, path: string): () => BuiltFile {
  let file: BuiltFile | undefined;
  const read = (isCompressed: boolean): Buffer => readFileSync(`${folder}${path}${isCompressed ? ".gz" : ""}`);
  return () => {
    file ??= {
      type: TYPES[path.slice(path.lastIndexOf(".") + 1)] ?? TEXT,
      isNamedByContent: /-[0-9A-Z]{8}\.(?:css|js)$/.test(path),
      isCompressible: COMPRESSED.test(path),
      etag: contentEtag(read(false)),
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
    // A page keeps its address in the next version, so browsers must revalidate it.
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
      ...(file.type === HTML_TYPE ? { ...POLICY_HEADER, "Referrer-Policy": "same-origin" } : {}),
    },
  };
}
