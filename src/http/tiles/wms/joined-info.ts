import { isMap } from "../../../lib/is-map.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { charsetOf } from "../../../lib/text/answer-text.ts";
import type { UpstreamDocument } from "../../../source/source.ts";

/**
 * Joins the feature information of several layers into one document. Refuses, with a sentence, documents that cannot be
 * joined.
 */
export function joinedInfo(
  documents: readonly [UpstreamDocument, ...UpstreamDocument[]],
): Result<UpstreamDocument, string> {
  const [first, ...others] = documents;
  const types = new Set(documents.map(({ contentType }) => typeOf(contentType)));
  if (types.size > 1)
    return refuse(`The map servers of the layers have answered in different formats: ${[...types].join(", ")}`);
  const [type = ""] = types;
  const texts = documents.map(textOf);
  const joined = joinedTexts(type, texts);
  if (joined === undefined)
    return refuse(
      `Several layers cannot be described together in ${type}: request text/plain, text/html or application/json`,
    );
  const isSame = others.every(({ contentType }) => contentType === first.contentType);
  const isUtf8 = isSame && charsetOf(first.contentType) === undefined;
  return ok({ contentType: isUtf8 ? first.contentType : `${type}; charset=utf-8`, bytes: Buffer.from(joined, "utf8") });
}

const typeOf = (contentType: string): string => contentType.split(";")[0]?.trim().toLowerCase() ?? "";

function textOf({ contentType, bytes }: UpstreamDocument): string {
  try {
    return new TextDecoder(charsetOf(contentType) ?? "utf-8").decode(bytes);
  } catch {
    // The charset is unknown.
    return new TextDecoder().decode(bytes);
  }
}

function joinedTexts(type: string, texts: readonly string[]): string | undefined {
  if (/^application\/(?:[\w.-]+\+)?json$/.test(type)) return joinedFeatures(texts);
  if (type === "text/html") return joinedElements(texts, /<body\b[^>]*>/i, /<\/body>/i) ?? texts.join("\n");
  if (/^(?:application|text)\/(?:xml|vnd\.ogc\.(?:gml|wms_xml)|gml|[\w.-]+\+xml)/.test(type)) return joinedRoots(texts);
  return type === "text/plain" ? texts.map((text) => (text.endsWith("\n") ? text : `${text}\n`)).join("") : undefined;
}

/** Joins GeoJSON. Undefined if a text is no feature collection. */
function joinedFeatures(texts: readonly string[]): string | undefined {
  const features: unknown[] = [];
  let crs: unknown;
  for (const text of texts) {
    const collection = parsed(text);
    if (!isMap(collection) || collection["type"] !== "FeatureCollection" || !Array.isArray(collection["features"]))
      return undefined;
    features.push(...collection["features"]);
    crs ??= collection["crs"];
  }
  return JSON.stringify({ type: "FeatureCollection", features, ...(crs === undefined ? {} : { crs }) });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Puts the content of an element of all texts into the first text. Undefined if a text lacks the element. */
function joinedElements(texts: readonly string[], begin: RegExp, end: RegExp): string | undefined {
  const parts = texts.map((text) => {
    const from = begin.exec(text);
    const to = end.exec(text);
    if (from === null || to === null || to.index < from.index + from[0].length) return undefined;
    const start = from.index + from[0].length;
    return { head: text.slice(0, start), content: text.slice(start, to.index), tail: text.slice(to.index) };
  });
  const known = parts.flatMap((part) => part ?? []);
  const [first] = known;
  if (first === undefined || known.length < parts.length) return undefined;
  return `${first.head}${known.map(({ content }) => content).join("")}${first.tail}`;
}

const ROOT = /<([\w.-]+(?::[\w.-]+)?)((?:\s+[\w.:-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?)>/;

/** Joins XML whose root elements are equal, with their attributes. Undefined for other documents. */
function joinedRoots(texts: readonly string[]): string | undefined {
  const roots = texts.map((text) => {
    const [tag = "", name = "", attributes = "", isEmpty = ""] = ROOT.exec(text) ?? [];
    return { tag, name, key: `${name}${attributes.replace(/\s+/g, " ")}`, isEmpty: isEmpty === "/" };
  });
  const [first] = roots;
  if (first === undefined || first.name === "" || roots.some(({ key }) => key !== first.key)) return undefined;
  const full = texts.filter((_, i) => roots[i]?.isEmpty === false);
  if (full.length === 0) return texts[0];
  const name = first.name.replaceAll(".", "\\.");
  return joinedElements(full, ROOT, new RegExp(`</${name}\\s*>\\s*$`));
}
