import { placeOf } from "../../body/body-text.ts";
import { type DocumentFormat, readDocument, sniffFormat } from "../../body/document.ts";
import type { Field } from "../../body/field.ts";
import { Fields, Problems } from "../../body/fields.ts";
import { defined } from "../../lib/defined.ts";
import { type Refusal, shown } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { asciiJson, escapeXml } from "../../lib/text/escape.ts";
import type { MassTruncateRequest } from "../../plan/seed-request.ts";
import { readBounds, readParameters } from "./bounds-and-parameters.ts";

/** The request types with their fields, in the order of the answer to GET. */
const FIELDS: Readonly<Record<MassTruncateRequest["type"], readonly string[]>> = {
  truncateLayer: ["layerName"],
  truncateParameters: ["layerName", "parameters"],
  truncateOrphans: ["layerName"],
  truncateExtent: ["layerName", "gridSetId", "bounds"],
  truncateAll: [],
};

/** Texts that mean an empty `<truncateAll/>`. The second is GeoWebCache's text after curl has encoded it. */
const ALL_FORMS: ReadonlySet<string> = new Set(["truncateAll=", "<truncateAll>=%3C%2FtruncateAll%3E"]);
const MOST_OF_ALL = 64;

const isType = (name: string): name is MassTruncateRequest["type"] => Object.hasOwn(FIELDS, name);

/**
 * Decodes the body of a POST to `masstruncate` (`docs/reference/wire-format.md`, Mass truncate). A body that begins
 * with `{` is JSON, one that begins with `<` is XML. Any other body is decoded as a percent-encoded form first: some
 * clients send the document as a form key without a value, perhaps followed by `=`.
 */
export function decodeMassTruncate(body: Uint8Array): Result<MassTruncateRequest, Refusal> {
  if (body.byteLength < MOST_OF_ALL && ALL_FORMS.has(Buffer.from(body).toString("latin1").trim()))
    return ok({ type: "truncateAll", isForm: true });
  const bytes = sniffFormat(body) === undefined ? formDecoded(body) : body;
  const roots = Object.keys(FIELDS);
  const root = readDocument(bytes, sniffFormat(bytes) ?? "xml", "a mass truncate request", roots);
  if (!root.ok) return root;
  const type = root.value.name;
  if (!isType(type)) return refuse({ code: "malformed", message: `Expected a mass truncate request` });

  if (type === "truncateAll") return allLayers(root.value, sniffFormat(bytes));
  const fields = new Fields(root.value, "", FIELDS[type], new Problems());
  const layer = fields.text("layerName");
  // A missing name must never truncate all layers.
  if (layer === undefined) fields.problems.at(root.value, "layerName: expected the name of a layer, got nothing");
  return fields.problems.result(requestOf(type, layer ?? "", fields));
}

/**
 * Reads the request that truncates every layer. It must be an empty XML element, so that no other request is mistaken
 * for it. GeoWebCache's form has a field `<truncateAll>` with the value `</truncateAll>`, so an `=` is between them.
 */
function allLayers(root: Field, format: DocumentFormat | undefined): Result<MassTruncateRequest, Refusal> {
  const text = root.text.trim();
  const isEmptyElement = format === "xml" && root.children.length === 0 && (text === "" || text === "=");
  if (isEmptyElement) return ok({ type: "truncateAll", isForm: text !== "" });
  const got = format === "json" ? "JSON" : (root.children[0]?.name ?? shown(text));
  return refuse({
    code: "malformed",
    message: `truncateAll: expected <truncateAll/>, an empty element of XML, got ${got}${placeOf(root)}`,
  });
}

function requestOf(
  type: Exclude<MassTruncateRequest["type"], "truncateAll">,
  layer: string,
  fields: Fields,
): MassTruncateRequest {
  switch (type) {
    case "truncateLayer":
    case "truncateOrphans":
      return { type, layer };
    case "truncateParameters": {
      const parameters = readParameters(fields);
      if (parameters.size === 0)
        fields.problems.at(fields.field, "parameters: expected at least one entry of a key and a value, got none");
      return { type, layer, parameters };
    }
    case "truncateExtent":
      return { type, layer, ...defined({ gridSet: fields.text("gridSetId"), bounds: readBounds(fields) }) };
  }
}

/**
 * Decodes a percent-encoded document (`%3CtruncateLayer%3E…`), as `curl --data-urlencode` and form libraries send it.
 * Returns the body unchanged if the decoded text is neither XML nor JSON.
 */
function formDecoded(body: Uint8Array): Uint8Array {
  const text = Buffer.from(body).toString("latin1").trim().replace(/=$/, "").replaceAll("+", " ");
  const decoded = text.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  const bytes = Buffer.from(decoded, "latin1");
  return sniffFormat(bytes) === undefined ? body : bytes;
}

/**
 * Returns the answer to GET (`docs/reference/wire-format.md`, Mass truncate): in ASCII, without declaration and white
 * space. For JSON GeoWebCache answers XML; this is the same document in JSON.
 */
export function encodeMassTruncateList(href: string, format: DocumentFormat): string {
  const names = Object.keys(FIELDS);
  if (format === "json")
    return `{"massTruncateRequests":{"@href":${asciiJson(href)},"requestType":${JSON.stringify(names)}}}`;
  const types = names.map((type) => `<requestType>${type}</requestType>`);
  return `<massTruncateRequests href="${escapeXml(href)}">${types.join("")}</massTruncateRequests>`;
}
