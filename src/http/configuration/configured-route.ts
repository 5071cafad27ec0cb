import { isDeepStrictEqual } from "node:util";
import { decodeDocument } from "../../configuration/gwc/codec/decode-document.ts";
import { DECLARATION, encodeXml } from "../../configuration/gwc/codec/encode-document.ts";
import { documentOf, type ObjectKind, overriddenKey } from "../../configuration/gwc/configured-object.ts";
import { map, type RootedDocument, textOf } from "../../configuration/gwc/document-node.ts";
import { type ListedKind, OBJECTS } from "../../configuration/gwc/object-kinds.ts";
import { inObject } from "../../configuration/gwc/object-origin.ts";
import type { DocumentReader } from "../../configuration/gwc/secrets.ts";
import { conflict, type Refusal } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { asciiJson, escapeXml } from "../../lib/text/escape.ts";
import { differences } from "../activity/activity-detail.ts";
import { type Caller, forbiddenTo } from "../auth/rights.ts";
import {
  administering,
  type Exchange,
  type Handler,
  type Reply,
  type Resource,
  type Route,
  type RouteOptions,
  reading,
} from "../resource.ts";
import { answerForm, bodyForm, type DocumentForm, encodeDocument, splitForm } from "./document-form.ts";

/** Changes the object with a name. `form` is the form in the address. */
export type Change<P> = (parts: P, exchange: Exchange, name: string, form: DocumentForm | undefined) => Promise<Reply>;

/** One kind of configured objects: layers, grid sets or stores. */
export interface Configured<P> {
  /** The path segment after `/rest`. */
  readonly segment: string;
  /** The names of two XML elements: of the list, and of one object in it. */
  readonly elements: readonly [string, string];
  /** The default form of an answer. */
  readonly standard: DocumentForm;
  readonly names: (exchange: Exchange) => readonly string[];
  readonly find: (exchange: Exchange, name: string) => RootedDocument | undefined;
  /** GeoWebCache's message about an unknown object. */
  readonly unknown: (name: string, method: "GET" | "DELETE") => string;
  readonly changes: Readonly<Partial<Record<"PUT" | "POST" | "DELETE", Change<P>>>>;
}

/** `/rest/SEGMENT` and `/rest/SEGMENT/NAME` (`docs/reference/configuration-interface.md`). */
export function configuredRoute<P>(parts: P, configured: Configured<P>): Route {
  const { segment } = configured;
  return {
    resourceAt: ([first, second = "", ...more]) => {
      if (first !== "rest" || more.length > 1) return undefined;
      const [last] = more;
      if (last !== undefined) return second === segment ? objectResource(parts, configured, last) : undefined;
      const { name, form } = splitForm(second);
      return name === segment ? listResource(configured, form) : undefined;
    },
  };
}

const listResource = <P>(configured: Configured<P>, ofAddress: DocumentForm | undefined): Resource => ({
  methods: {
    GET: reading(async (exchange): Promise<Reply> => {
      const chosen = answerForm(exchange, ofAddress, configured.standard);
      if (!chosen.ok) return chosen;
      const { form, type } = chosen.value;
      const names = configured.names(exchange);
      const body = form === "json" ? `[${names.map(asciiJson).join(",")}]` : listXml(configured, exchange, names);
      return { status: 200, type, body };
    }),
  },
});

function listXml(
  { segment, elements }: Pick<Configured<never>, "segment" | "elements">,
  { base }: Exchange,
  names: readonly string[],
): string {
  const [around, one] = elements;
  const prefix = escapeXml(`${base}/rest/${segment}/`);
  // Written directly, because building a document of ten thousand layers first would take half a second.
  const items = names.map(
    (name) => `  <${one}>
    <name>${escapeXml(name)}</name>
    <atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="alternate" href="${prefix}${escapeXml(encodeURIComponent(name))}.xml" type="text/xml"/>
  </${one}>
`,
  );
  return items.length === 0 ? encodeXml(around, map([])) : `${DECLARATION}<${around}>\n${items.join("")}</${around}>\n`;
}

function objectResource<P>(parts: P, configured: Configured<P>, segment: string): Resource {
  const { name, form: ofAddress } = splitForm(segment);
  const changes = Object.entries(configured.changes).map(([method, change]): [string, Handler] => [
    method,
    administering((exchange) => change(parts, exchange, name, ofAddress)),
  ]);
  return {
    methods: {
      GET: reading(async (exchange): Promise<Reply> => {
        const found = configured.find(exchange, name);
        return found === undefined
          ? refuse(notFound(configured.unknown(name, "GET")))
          : documentAnswer(exchange, ofAddress, configured.standard, found);
      }),
      ...Object.fromEntries(changes),
    },
  };
}

/** Returns a layer's name with blanks in place of plus signs, as GeoWebCache reads it when it shows a layer. */
export const withBlanks = (name: string): string => name.replaceAll("+", " ");

export const notFound = (message: string): Refusal => ({ code: "not_found", message });

/** Returns the answer with one document, in the form that the client prefers. */
export function documentAnswer(
  exchange: Exchange,
  ofAddress: DocumentForm | undefined,
  standard: DocumentForm,
  { root, node }: RootedDocument,
): Reply {
  const chosen = answerForm(exchange, ofAddress, standard);
  if (!chosen.ok) return chosen;
  const { form, type } = chosen.value;
  return { status: 200, type, body: encodeDocument(form, root, node) };
}

/** Returns how much a caller may see of the secrets of an object that was made over HTTP. */
export const readerOf = (caller: Caller): DocumentReader =>
  forbiddenTo(caller, "administer") === undefined ? "changer" : "reader";

/** The rules by which PUT reads a kind of objects. */
export interface PutKind {
  readonly kind: ListedKind;
  /** The document's name for messages. */
  readonly what: string;
  /** The message about a name that differs from the path. */
  readonly mismatch: string;
  /** Returns a document in the form that the record of activity compares. */
  readonly contentOf: (document: RootedDocument) => unknown;
  /** Returns a document with the defaults that GET shows. Absent if GET shows no defaults. */
  readonly complete?: (document: RootedDocument) => RootedDocument;
  /** Returns a fault that the checks of the configuration file do not detect. Undefined if the document has none. */
  readonly faultOf: (document: RootedDocument) => string | undefined;
  /** Returns why a change is refused because of other objects. Undefined if it is not. */
  readonly refusalOf?: (document: RootedDocument) => Refusal | undefined;
}

/** An object in force, with its secrets. */
export interface Present {
  readonly document: RootedDocument;
  /** The document that GET shows. Absent if GET shows `document` with its defaults. */
  readonly shown?: RootedDocument;
  /** Whether the object was not made over HTTP: it is in the configuration file or built in. */
  readonly isFixed: boolean;
  /** Why the object cannot be changed over HTTP. Undefined if it can. */
  readonly refusal?: Refusal | undefined;
}

type ObjectParts = Pick<RouteOptions, "configured" | "changeObject">;

/** Returns an object that was made over HTTP. Undefined if it was not. */
export function presentObject({ configured }: ObjectParts, kind: ObjectKind, name: string): Present | undefined {
  const document = documentOf(configured().objects, kind, name);
  return document && { document, isFixed: false };
}

/**
 * Creates or replaces an object, for a PUT. Returns whether the object is new, or why the PUT was refused. A PUT
 * without a change succeeds, even if the object cannot be changed.
 */
export async function putObject(
  parts: ObjectParts,
  put: PutKind,
  exchange: Exchange,
  name: string,
  present: Present | undefined,
): Promise<Result<{ readonly isNew: boolean; readonly detail: string }, Refusal>> {
  const { kind, what, mismatch, contentOf, faultOf, refusalOf } = put;
  const { roots, nameField } = OBJECTS[kind];
  const form = bodyForm(exchange);
  if (!form.ok) return form;
  const decoded = await exchange.body((bytes) =>
    decodeDocument(bytes, form.value, { what, roots, present: present?.document, strict: true }),
  );
  if (!decoded.ok) return decoded;
  const document = decoded.value;
  const given = textOf(document.node, nameField);
  if (given === undefined || given === "")
    return refuse({ code: "bad_field", message: `${nameField}: expected ${JSON.stringify(name)}, got none` });
  if (given !== name) return refuse({ code: "bad_field", message: mismatch });
  const isNew = present === undefined;
  const { complete = (one: RootedDocument) => one } = put;
  const compared = (one: RootedDocument): unknown => (present?.isFixed === true ? contentOf(one) : complete(one));
  const isSame =
    !isNew &&
    (isDeepStrictEqual(compared(present.document), compared(document)) || isDeepStrictEqual(present.shown, document));
  if (isSame) return ok({ isNew, detail: `${name}: no change` });
  if (present?.refusal !== undefined) return refuse(present.refusal);
  const fault = faultOf(document);
  if (fault !== undefined) return refuse({ code: "bad_field", message: fault });
  const refused = refusalOf?.(document);
  if (refused !== undefined) return refuse(refused);
  const changed = await parts.changeObject({ kind, name, document }, exchange.by);
  const change = isNew ? "made" : differences(contentOf(present.document), contentOf(document));
  return changed.ok ? ok({ isNew, detail: `${name}: ${change}` }) : refuse(inElements(changed.error));
}

/** Removes an object. Refuses if layers use it: `users` are these layers. */
export async function deleteObject(
  parts: ObjectParts,
  { kind, what }: Pick<PutKind, "kind" | "what">,
  exchange: Exchange,
  name: string,
  present: Present | undefined,
  { unknown, users }: { readonly unknown: string; readonly users: readonly string[] },
): Promise<Result<null, Refusal>> {
  if (present === undefined) return refuse(notFound(unknown));
  if (present.refusal !== undefined) return refuse(present.refusal);
  if (users.length > 0) return refuse(inUse(what, name, users));
  const { objects, overridden } = parts.configured();
  const isInFile = documentOf(objects, kind, name) === undefined || overridden.has(overriddenKey({ kind, name }));
  return parts.changeObject({ kind, name, document: undefined, ...(isInFile ? { isInFile } : {}) }, exchange.by);
}

/** The most users that a message names. */
const MOST_USERS = 10;

export function inUse(what: string, name: string, users: readonly string[]): Refusal {
  const more = users.length > MOST_USERS ? `, and ${users.length - MOST_USERS} more` : "";
  return conflict(`T${what.replace(/^a/, "he")} ${name} is in use by ${users.slice(0, MOST_USERS).join(", ")}${more}.`);
}

/** Converts the paths of a refusal to paths of the document that the client has sent. */
function inElements(refusal: Refusal): Refusal {
  if (refusal.problems === undefined) return refusal;
  const lines = refusal.problems.map(
    (problem) => inObject(problem, "elements")?.message ?? `${problem.file}: ${problem.message}`,
  );
  const [message = "the document is not valid", ...details] = lines;
  return { code: "bad_field", message, details };
}
