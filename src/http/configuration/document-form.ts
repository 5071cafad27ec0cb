import type { DocumentNode } from "../../gwc/document-node.ts";
import { type Refusal, shown } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { acceptedTypes } from "../request.ts";
import type { Exchange } from "../resource.ts";
import { encodeJson, encodeXml } from "./encode-document.ts";

export type DocumentForm = "xml" | "json";

/** Splits the form from a name: `roads.xml` is `roads` in XML. */
export function splitForm(segment: string): { readonly name: string; readonly form: DocumentForm | undefined } {
  const found = /^(.*)\.(xml|json)$/s.exec(segment);
  if (found === null) return { name: segment, form: undefined };
  return { name: found[1] ?? "", form: found[2] === "xml" ? "xml" : "json" };
}

/** The form of an answer, and its content type. */
export interface AnswerForm {
  readonly form: DocumentForm;
  readonly type: string;
}

const XML = { form: "xml", type: "application/xml" } as const;
const JSON_FORM = { form: "json", type: "application/json" } as const;

/**
 * Returns the form of an answer: that of the address, else of `?format=`, else of Accept, else the standard of the
 * resource. A browser, which accepts neither XML nor JSON by name, gets the standard form; GeoWebCache answers 406.
 */
export function answerForm(
  { headers, query }: Pick<Exchange, "headers" | "query">,
  ofAddress: DocumentForm | undefined,
  standard: DocumentForm,
): AnswerForm {
  const accepted = acceptedForm(headers.accept);
  const form = ofAddress ?? formOf(query.get("format")) ?? accepted?.form ?? standard;
  if (form === "json") return JSON_FORM;
  return accepted?.form === "xml" ? accepted : XML;
}

const formOf = (text: string | null): DocumentForm | undefined =>
  text === "xml" || text === "json" ? text : undefined;

/** Returns the first form that an Accept header names, by weight and then by order; undefined: any form will do. */
function acceptedForm(accept: string | undefined): AnswerForm | undefined {
  for (const type of acceptedTypes(accept)) {
    if (type === "application/xml") return XML;
    if (type === "text/xml") return { form: "xml", type: "text/xml" };
    if (type === "application/json") return JSON_FORM;
    if (type === "*/*" || type === "application/*") return undefined;
  }
  return undefined;
}

export const encodeDocument = (form: DocumentForm, root: string, node: DocumentNode): string =>
  form === "xml" ? encodeXml(root, node) : encodeJson(root, node);

/** Returns the form of a body by its Content-Type alone. */
export function bodyForm({ headers }: Pick<Exchange, "headers">): Result<DocumentForm, Refusal> {
  const type = (headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase();
  if (type === "text/xml" || type === "application/xml") return ok("xml");
  if (type === "application/json") return ok("json");
  const message = `Content-Type: expected text/xml, application/xml or application/json, got ${shown(type)}`;
  return refuse({ code: "unsupported_type", message });
}
