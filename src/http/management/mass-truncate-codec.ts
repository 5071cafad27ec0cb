import { escapeXml } from "../../lib/escape.ts";
import type { Refusal } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import type { MassTruncateRequest } from "../../plan/seed-request.ts";
import { placeOf } from "./internal/body-text.ts";
import { readBounds, readParameters } from "./internal/bounds-and-parameters.ts";
import { readDocument, sniffFormat } from "./internal/document.ts";
import { badFieldAt, fieldsOf, note, startProblems } from "./internal/fields.ts";

/** The request types in the order in which the answer to GET lists them, each with its fields. */
const FIELDS: Readonly<Record<MassTruncateRequest["type"], readonly string[]>> = {
  truncateLayer: ["layerName"],
  truncateParameters: ["layerName", "parameters"],
  truncateOrphans: ["layerName"],
  truncateExtent: ["layerName", "gridSetId", "bounds"],
};

const isType = (name: string): name is MassTruncateRequest["type"] => Object.hasOwn(FIELDS, name);

/**
 * Decodes the body of a POST to `masstruncate` (`docs/reference/wire-format.md`, Mass truncate). A body that begins
 * with `{` is JSON, one that begins with `<` is XML. Any other body is decoded as a percent-encoded form first: some
 * clients send the document as a form key without a value, perhaps followed by `=`.
 */
export function decodeMassTruncate(body: Uint8Array): Result<MassTruncateRequest, Refusal> {
  const bytes = sniffFormat(body) === undefined ? formDecoded(body) : body;
  const roots = Object.keys(FIELDS);
  const root = readDocument(bytes, sniffFormat(bytes) ?? "xml", "a mass truncate request", roots);
  if (!root.ok) return root;
  const type = root.value.name;
  if (!isType(type)) return refuse({ code: "malformed", message: `Expected a mass truncate request` });

  const problems = startProblems();
  const fields = fieldsOf(root.value, "", FIELDS[type], problems);
  const layer = fields.text("layerName");
  if (layer === undefined) {
    // A missing name must never truncate all layers.
    note(problems, {
      code: "bad_field",
      message: `layerName: expected the name of a layer, got nothing ${placeOf(root.value)}`,
    });
    return refuse(problems.first ?? badFieldAt("layerName", "the name of a layer", root.value));
  }
  const request = ((): MassTruncateRequest => {
    switch (type) {
      case "truncateLayer":
      case "truncateOrphans":
        return { type, layer };
      case "truncateParameters": {
        const parameters = readParameters(fields, problems);
        if (parameters.size === 0) {
          const message = `parameters: expected at least one entry of a key and a value, got none ${placeOf(root.value)}`;
          note(problems, { code: "bad_field", message });
        }
        return { type, layer, parameters };
      }
      case "truncateExtent": {
        const gridSetId = fields.text("gridSetId");
        const bounds = readBounds(fields, problems);
        return {
          type,
          layer,
          ...(gridSetId === undefined ? {} : { gridSetId }),
          ...(bounds === undefined ? {} : { bounds }),
        };
      }
    }
  })();
  return problems.first === undefined ? ok(request) : refuse(problems.first);
}

/**
 * Decodes a percent-encoded document (`%3CtruncateLayer%3E…`), as `curl --data-urlencode` and form libraries send one.
 * Returns the body unchanged if the decoded text is neither XML nor JSON.
 */
function formDecoded(body: Uint8Array): Uint8Array {
  const text = Buffer.from(body).toString("latin1").trim().replace(/=$/, "").replaceAll("+", " ");
  const decoded = text.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  const bytes = Buffer.from(decoded, "latin1");
  return sniffFormat(bytes) === undefined ? body : bytes;
}

/**
 * Returns the answer to GET (`docs/reference/wire-format.md`, Mass truncate): ASCII, no declaration, no white space.
 */
export function encodeMassTruncateList(href: string): string {
  const types = Object.keys(FIELDS).map((type) => `<requestType>${type}</requestType>`);
  return `<massTruncateRequests href="${escapeXml(href)}">${types.join("")}</massTruncateRequests>`;
}
