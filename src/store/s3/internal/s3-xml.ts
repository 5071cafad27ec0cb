import { SaxesParser } from "saxes";
import { escapeXml } from "../../../lib/escape.ts";

/** An object of a list. */
export interface ListedObject {
  readonly key: string;
  readonly bytes: number;
  readonly modifiedMs: number;
}

/** One page of ListObjectsV2. */
export interface S3Page {
  readonly objects: readonly ListedObject[];
  /** The beginnings of keys up to the delimiter, with it. */
  readonly prefixes: readonly string[];
  /** The token of the next page. Undefined: this is the last one. */
  readonly next: string | undefined;
}

type OnText = (path: string, text: string) => void;

/** Reports the text of each element that has no elements inside, with the path of local names. */
function readXml(text: string, onText: OnText, onClose: (path: string) => void = () => undefined): void {
  const parser = new SaxesParser();
  const path: string[] = [];
  let content = "";
  let isLeaf = false;
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("opentag", ({ name }) => {
    path.push(name.slice(name.indexOf(":") + 1));
    content = "";
    isLeaf = true;
  });
  parser.on("text", (more) => {
    content += more;
  });
  parser.on("cdata", (more) => {
    content += more;
  });
  parser.on("closetag", () => {
    const at = path.join("/");
    if (isLeaf) onText(at, content);
    onClose(at);
    isLeaf = false;
    path.pop();
  });
  parser.write(text).close();
}

/** Parses a page of a list that was requested with `encoding-type=url`. @throws Error when it is not well-formed */
export function parsePage(text: string): S3Page {
  const objects: ListedObject[] = [];
  const prefixes: string[] = [];
  let isEncoded = false;
  let isTruncated = false;
  let next: string | undefined;
  let [key, bytes, modifiedMs] = ["", 0, 0];
  const root = "ListBucketResult";
  readXml(
    text,
    (path, value) => {
      if (path === `${root}/EncodingType`) isEncoded = value === "url";
      else if (path === `${root}/IsTruncated`) isTruncated = value === "true";
      else if (path === `${root}/NextContinuationToken`) next = value;
      else if (path === `${root}/Contents/Key`) key = value;
      else if (path === `${root}/Contents/Size`) bytes = Number(value);
      else if (path === `${root}/Contents/LastModified`) modifiedMs = Date.parse(value);
      else if (path === `${root}/CommonPrefixes/Prefix`) prefixes.push(value);
    },
    (path) => {
      if (path === `${root}/Contents`) objects.push({ key, bytes, modifiedMs });
    },
  );
  // The element with the encoding may come after the keys. Not every server supports the encoding.
  const decoded = (name: string): string => (isEncoded ? decodeURIComponent(name.replaceAll("+", " ")) : name);
  return {
    objects: objects.map((object) => ({ ...object, key: decoded(object.key) })),
    prefixes: prefixes.map(decoded),
    next: isTruncated ? next : undefined,
  };
}

/** Returns the body of DeleteObjects. */
export const deleteBody = (keys: readonly string[]): string =>
  `<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Quiet>true</Quiet>${keys
    .map((key) => `<Object><Key>${escapeXml(key)}</Key></Object>`)
    .join("")}</Delete>`;

/** Returns the keys that DeleteObjects could not delete, with the reasons. @throws Error when it is not well-formed */
export function parseDeleted(text: string): { readonly key: string; readonly code: string }[] {
  const failed: { readonly key: string; readonly code: string }[] = [];
  if (text.trim() === "") return failed;
  let [key, code] = ["", ""];
  readXml(
    text,
    (path, value) => {
      if (path === "DeleteResult/Error/Key") key = value;
      else if (path === "DeleteResult/Error/Code") code = value;
    },
    (path) => {
      if (path !== "DeleteResult/Error") return;
      failed.push({ key, code: code === "" ? "not deleted" : code });
      [key, code] = ["", ""];
    },
  );
  return failed;
}

/** Returns the code of an error document; undefined: the text is none. */
export function parseErrorCode(text: string): string | undefined {
  let code: string | undefined;
  try {
    readXml(text, (path, value) => {
      if (path === "Error/Code") code = value;
    });
  } catch {
    // A proxy or a load balancer before the service answers with a page.
    return undefined;
  }
  return code;
}
