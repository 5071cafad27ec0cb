import { asciiJson, escapeXml } from "../../../lib/text/escape.ts";
import { doubleText } from "../../../lib/text/float-text.ts";
import type { DocumentNode } from "../document-node.ts";

export const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** Encodes a document as XML in ASCII, indented by two spaces a level as in GeoWebCache. */
export const encodeXml = (root: string, node: DocumentNode): string => `${DECLARATION}${elementText(root, node, "")}\n`;

/**
 * Returns an element of a document as XML.
 * @param indent the white space at the beginning of the element's lines; absent for an element without line breaks
 */
export function elementText(name: string, node: DocumentNode, indent?: string): string {
  const before = indent ?? "";
  const end = indent === undefined ? "" : "\n";
  if (typeof node !== "object") return `${before}<${name}>${escapeXml(String(node))}</${name}>`;
  switch (node.kind) {
    case "double":
      return `${before}<${name}>${doubleText(node.value)}</${name}>`;
    case "repeated":
      return node.items.map((item) => elementText(name, item, indent)).join(end);
    case "list":
    case "map": {
      const attributes = node.kind === "map" ? Object.entries(node.attributes) : [];
      const tag = `${name}${attributes.map(([key, value]) => ` ${key}="${escapeXml(value)}"`).join("")}`;
      const inner = (node.kind === "map" ? node.fields : node.items)
        .map(([child, value]) => elementText(child, value, indent === undefined ? undefined : `${indent}  `))
        .filter((text) => text !== "");
      return inner.length === 0
        ? `${before}<${tag}/>`
        : `${before}<${tag}>${end}${inner.join(end)}${end}${before}</${name}>`;
    }
  }
}

/** Encodes a document as compact JSON in ASCII: an object whose only member has the root's name. */
export const encodeJson = (root: string, node: DocumentNode): string => `{${asciiJson(root)}:${jsonOf(node)}}`;

function jsonOf(node: DocumentNode): string {
  if (typeof node === "string") return asciiJson(node);
  if (typeof node !== "object") return String(node);
  switch (node.kind) {
    case "double":
      return jsonNumber(node.value);
    case "list":
      return `[${node.items.map(([, item]) => jsonOf(item)).join(",")}]`;
    case "repeated":
      return `[${node.items.map(jsonOf).join(",")}]`;
    case "map": {
      const attributes = Object.entries(node.attributes).map(
        ([key, value]) => `${asciiJson(`@${key}`)}:${asciiJson(value)}`,
      );
      const fields = node.fields.map(([key, value]) => `${asciiJson(key)}:${jsonOf(value)}`);
      return `{${[...attributes, ...fields].join(",")}}`;
    }
  }
}

/**
 * Formats a number as GeoWebCache's JSON does: a decimal with the digits that Java prints. Uses an exponent if the
 * decimal would need zeros before its point (`2.5E+7`, but `20037508.34`) or more than five zeros after it (`3.35E-7`,
 * but `0.00028`).
 */
function jsonNumber(value: number): string {
  const [, first, fraction = "", exponent = ""] = /^(-?\d)\.(\d+)E(-?\d+)$/.exec(doubleText(value)) ?? [];
  if (first === undefined) return String(value);
  const digits = fraction === "0" ? "" : fraction;
  const power = Number(exponent);
  if (power <= digits.length && power >= -6) return String(value);
  return `${first}${digits === "" ? "" : "."}${digits}E${power < 0 ? "" : "+"}${power}`;
}
