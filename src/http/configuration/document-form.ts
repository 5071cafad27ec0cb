import { encodeJson, encodeXml } from "../../configuration/gwc/codec/encode-document.ts";
import type { DocumentNode } from "../../configuration/gwc/document-node.ts";
import { type Refusal, shown } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { type Answer, textAnswer } from "../reply.ts";
import { acceptedTypes } from "../request/request.ts";
import type { Exchange } from "../resource.ts";

export type DocumentForm = "xml" | "json";

/** Separates the form from a name: `roads.xml` is `roads` in XML. */
export function splitForm(segment: string): { readonly name: string; readonly form: DocumentForm | undefined } {
  const found = /^(.*)\.(xml|json)$/s.exec(segment);
  if (found === null) return { name: segment, form: undefined };
  return { name: found[1] ?? "", form: found[2] === "xml" ? "xml" : "json" };
}

/**
 * Returns the form in an address of one segment, `NAME[.xml|.json]`, which may be below `/rest`. Undefined for any other
 * address.
 */
export function formOfResource(
  name: string,
  segments: readonly string[],
): { readonly form: DocumentForm | undefined } | undefined {
  const [segment = "", ...more] = segments[0] === "rest" ? segments.slice(1) : segments;
  const split = splitForm(segment);
  return split.name === name && more.length === 0 ? split : undefined;
}

/** Returns a text of GeoWebCache, with the content type that the address names. */
export function textOfForm(text: string, form: DocumentForm | undefined): Answer {
  const answer = textAnswer(200, text);
  return form === undefined ? answer : { ...answer, type: `application/${form}` };
}

/** The form of an answer with its content type. */
export interface AnswerForm {
  readonly form: DocumentForm;
  readonly type: string;
}

const XML = { form: "xml", type: "application/xml" } as const;
const JSON_FORM = { form: "json", type: "application/json" } as const;

/**
 * Returns the form of an answer: the form in the address, else in `?format=`, else in Accept, else the default of the
 * resource. Refuses a client that accepts neither XML nor JSON, unless the address or the query names a form.
 */
export function answerForm(
  { headers, query }: Pick<Exchange, "headers" | "query">,
  ofAddress: DocumentForm | undefined,
  standard: DocumentForm,
): Result<AnswerForm, Refusal> {
  const named = ofAddress ?? formOf(query.get("format"));
  const refused = named === undefined ? refusedAccept(headers.accept, TYPES) : undefined;
  if (refused !== undefined) return refuse(refused);
  const accepted = acceptedForm(headers.accept);
  const form = named ?? accepted?.form ?? standard;
  if (form === "json") return ok(JSON_FORM);
  return ok(accepted?.form === "xml" ? accepted : XML);
}

const TYPES = ["application/xml", "text/xml", "application/json"];

/** Returns why an Accept header permits no type of the resource. Undefined if it permits a type. */
export function refusedAccept(accept: string | undefined, types: readonly string[]): Refusal | undefined {
  const accepted = acceptedTypes(accept);
  const ranges = new Set(["*/*", ...types, ...types.map((type) => type.replace(/\/.*/, "/*"))]);
  if (accepted.length === 0 || accepted.some((range) => range === "" || ranges.has(range))) return undefined;
  return { code: "not_acceptable", message: `Accept: expected ${types.join(" or ")}, got ${shown(accept)}` };
}

const formOf = (text: string | null): DocumentForm | undefined =>
  text === "xml" || text === "json" ? text : undefined;

/**
 * Returns the preferred form in an Accept header, by weight and then by order. Undefined if the header does
 * not prefer a form.
 */
function acceptedForm(accept: string | undefined): AnswerForm | undefined {
  for (const type of acceptedTypes(accept)) {
    if (type === "application/xml") return XML;
    if (type === "text/xml" || type === "text/*") return { form: "xml", type: "text/xml" };
    if (type === "application/json") return JSON_FORM;
    if (type === "*/*" || type === "application/*") return undefined;
  }
  return undefined;
}

export const encodeDocument = (form: DocumentForm, root: string, node: DocumentNode): string =>
  form === "xml" ? encodeXml(root, node) : encodeJson(root, node);

/** Returns the form of a body. Only its Content-Type decides. */
export function bodyForm({ headers }: Pick<Exchange, "headers">): Result<DocumentForm, Refusal> {
  const type = (headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase();
  if (type === "text/xml" || type === "application/xml") return ok("xml");
  if (type === "application/json") return ok("json");
  const message = `Content-Type: expected text/xml, application/xml or application/json, got ${shown(type)}`;
  return refuse({ code: "unsupported_type", message });
}
