import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { type ObjectEffect, type ObjectKind, overriddenKey } from "../../../configuration/gwc/configured-object.ts";
import { inObject } from "../../../configuration/gwc/object-origin.ts";
import { ownDocument } from "../../../configuration/gwc/own-document.ts";
import { asLayerName } from "../../../layer/tile-set.ts";
import type { Content } from "../../../lib/is-map.ts";
import { badField, conflict, type PlacedProblem, type Refusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { masked } from "../../../lib/text/masked.ts";
import { differences, withDetail } from "../../activity-detail.ts";
import { administering, type Exchange, type Reply, type RouteOptions } from "../../resource.ts";
import { documentAnswer, reader } from "../api-answer.ts";
import { type ApiOperation, operation } from "../api-operation.ts";
import { isObject, parseConfigurationObject, withoutNulls } from "../json-body.ts";
import { answer, created, gone } from "../openapi/openapi-parts.ts";
import { decodeStrictQuery, yesOrNo } from "../query-fields.ts";
import { effectDocument } from "./change-effect.ts";
import { expectedTag } from "./preconditions.ts";
import { mergePatch, withSecrets } from "./secrets.ts";

const changeQuery = z.object({
  dryRun: yesOrNo
    .default(false)
    .meta({ default: false, description: "true: changes nothing, and returns the effect of the change" }),
  truncate: yesOrNo.default(false).meta({
    default: false,
    description: "true: truncates the layer after the change, because its tiles are outdated",
  }),
});

const removalQuery = changeQuery.pick({ dryRun: true });

/** The present state of an object. */
export interface PresentObject {
  /** The object in the form of the configuration file, with secrets masked. */
  readonly shown: Content;
  /** The object as it was made over HTTP, with its secrets. Undefined if it was not made over HTTP. */
  readonly made: Content | undefined;
  /** The object in force, with its secrets. */
  readonly whole: Content;
  readonly tag: string;
  /** Why the object cannot be changed over HTTP. Undefined if it can. */
  readonly fixed: Refusal | undefined;
}

/** A kind of objects that PUT, PATCH and DELETE can change. */
export interface ChangedKind {
  readonly kind: ObjectKind;
  /** The name of the kind for messages. */
  readonly what: string;
  /** The key of the content that contains the name. */
  readonly nameKey: "name" | "id";
  readonly present: (exchange: Exchange, name: string) => PresentObject | undefined;
  readonly unknown: (name: string) => Refusal;
  /** Returns the answer with the object after the change. */
  readonly answer: (exchange: Exchange, name: string, status: number) => Promise<Reply>;
  /** Returns why an object cannot have a name. Undefined if it can. Absent if no name is reserved. */
  readonly reserved?: (name: string) => Refusal | undefined;
  /** Returns why the object cannot be removed. Undefined if it can. */
  readonly inUse: (exchange: Exchange, name: string) => Refusal | undefined;
}

type Parts = Pick<RouteOptions, "configured" | "changeObject" | "previewObject" | "operations">;

/** Returns whether an object can be changed under `/api/v1`. `fixed` is why it cannot be changed over HTTP. */
export const isEditable = ({ configured }: Pick<RouteOptions, "configured">, fixed: Refusal | undefined): boolean =>
  fixed === undefined && configured().geowebcache === undefined;

/** Returns the Location header of a created object. Returns no header for any other status. */
export const locationOf = (
  status: number,
  base: string,
  collection: "layers" | "grid-sets" | "stores",
  name: string,
): { readonly Location?: string } =>
  status === 201 ? { Location: `${base}/api/v1/${collection}/${encodeURIComponent(name)}` } : {};

const ifMatch = {
  name: "If-Match",
  in: "header",
  description: "The ETag of the state to which the change applies; another state is a 412.",
  schema: { type: "string" },
};
const ANY_OBJECT = { required: true, content: { "application/json": { schema: { type: "object" } } } };

/**
 * Returns the operations on one object: GET returns it, PUT and PATCH change one that was made over HTTP, and DELETE
 * removes it.
 * @param summary of GET
 * @param keys the document of the keys of the configuration. Absent: any object
 */
export function objectOperations(
  path: `/${string}`,
  document: "Layer" | "GridSet" | "Store",
  { summary, keys }: { readonly summary: string; readonly keys?: string },
  kindOf: (parts: RouteOptions) => ChangedKind,
): readonly ApiOperation[] {
  const changes = { headers: [ifMatch], query: changeQuery, failures: [400, 404, 409, 412, 413] };
  const effect = answer(document, "ConfigurationEffect");
  return [
    operation(
      `GET ${path}`,
      `get${document}`,
      summary,
      { answers: { 200: answer(document) }, failures: [404] },
      (parts, name) => reader((exchange) => kindOf(parts).answer(exchange, name, 200)),
    ),
    operation(
      `PUT ${path}`,
      `put${document}`,
      "Creates or replaces an object that was made over HTTP: the keys of the configuration",
      { ...changes, body: keys ?? ANY_OBJECT, answers: { 200: effect, 201: created(document) } },
      (parts, name) => administering((exchange) => changed(parts, kindOf(parts), exchange, name, "PUT")),
    ),
    operation(
      `PATCH ${path}`,
      `change${document}`,
      "Changes single keys of an object that was made over HTTP (RFC 7396)",
      { ...changes, body: ANY_OBJECT, answers: { 200: effect } },
      (parts, name) => administering((exchange) => changed(parts, kindOf(parts), exchange, name, "PATCH")),
    ),
    operation(
      `DELETE ${path}`,
      `remove${document}`,
      "Removes an object that was made over HTTP, and the tiles of a removed layer",
      {
        headers: [ifMatch],
        query: removalQuery,
        answers: { 200: answer("ConfigurationEffect"), ...gone },
        failures: [400, 404, 409, 412],
      },
      (parts, name) => administering((exchange) => removed(parts, kindOf(parts), exchange, name)),
    ),
  ];
}

/** Returns a content as parsed JSON, without undefined members. */
const plain = (content: Content): unknown => JSON.parse(JSON.stringify(content));

async function changed(
  parts: Parts,
  kind: ChangedKind,
  exchange: Exchange,
  name: string,
  method: "PUT" | "PATCH",
): Promise<Reply> {
  const query = decodeStrictQuery(changeQuery, exchange);
  if (!query.ok) return query;
  const present = kind.present(exchange, name);
  const isPatch = method === "PATCH";
  if (isPatch && present === undefined) return refuse(kind.unknown(name));
  const body = await exchange.body((bytes) => parseConfigurationObject(bytes, kind.what));
  if (!body.ok) return body;
  // A patch keeps each secret that it does not name, or that it sends masked.
  const whole = present && plain(present.made ?? present.whole);
  const before = masked(whole);
  const content = named(kind, isPatch ? mergePatch(before, body.value) : withoutNulls(body.value), name);
  if (!content.ok) return content;
  const expected = expectedTag(exchange.headers, present?.tag ?? null);
  if (!expected.ok) return expected;
  const { dryRun, truncate } = query.value;
  const effect = async (result: "created" | "changed" | "unchanged", of = NO_EFFECT): Promise<Reply> => ({
    ...documentAnswer("ConfigurationEffect", await effectDocument(parts.operations, result, of, truncatedLayer())),
    isPreview: true,
  });
  const truncatedLayer = () =>
    truncate && kind.kind === "layer" && present !== undefined ? asLayerName(name) : undefined;
  if (present !== undefined && isDeepStrictEqual(content.value, plain(present.shown)))
    return dryRun ? effect("unchanged") : kind.answer(exchange, name, 200);
  const fixed = present?.fixed ?? kind.reserved?.(name) ?? inDirectory(parts, kind, name);
  if (fixed !== undefined) return refuse(fixed);
  const filled = withSecrets(content.value, whole);
  if (!filled.ok) return filled;
  const document = ownDocument(isObject(filled.value) ? filled.value : {});
  // A patch requires the state that it was merged with.
  const tag = isPatch ? (present?.tag ?? null) : expected.value;
  const change = { kind: kind.kind, name, document, ...(tag === undefined ? {} : { expected: tag }) };
  const result = present === undefined ? "created" : "changed";
  if (dryRun) {
    const preview = await parts.previewObject(change);
    return preview.ok ? effect(result, preview.value) : refuse(inBody(preview.error));
  }
  const done = await parts.changeObject(change, exchange.by);
  if (!done.ok) return refuse(inBody(done.error));
  const layer = truncatedLayer();
  if (layer !== undefined) await parts.operations.truncate({ type: "truncateLayer", layer, mode: "hard" }, exchange.by);
  const detail =
    present === undefined ? `${kind.what} ${name}: made` : `${kind.what} ${name}: ${differences(whole, filled.value)}`;
  return withDetail(await kind.answer(exchange, name, present === undefined ? 201 : 200), detail);
}

/** Returns why an object of GeoWebCache's directory cannot have keys of the configuration file. Undefined if it can. */
function inDirectory({ configured }: Parts, { what }: ChangedKind, name: string): Refusal | undefined {
  const directory = configured().geowebcache?.directory;
  return directory === undefined
    ? undefined
    : conflict(
        `The ${what} ${name} would be written into ${directory}, whose file has only GeoWebCache's elements: change it under /rest.`,
      );
}

const NO_EFFECT: ObjectEffect = { layers: [], moved: [], relocated: [] };

/** Returns a content with the name in the address. Refuses another name in the content. */
function named({ nameKey }: ChangedKind, content: unknown, name: string): Result<Content, Refusal> {
  const given = isObject(content) ? content : {};
  const own = given[nameKey] ?? name;
  return own === name
    ? ok({ ...given, [nameKey]: name })
    : refuse(badField(nameKey, `the name in the address, ${JSON.stringify(name)}`, own));
}

async function removed(parts: Parts, kind: ChangedKind, exchange: Exchange, name: string): Promise<Reply> {
  const query = decodeStrictQuery(removalQuery, exchange);
  if (!query.ok) return query;
  const present = kind.present(exchange, name);
  if (present === undefined) return refuse(kind.unknown(name));
  const expected = expectedTag(exchange.headers, present.tag);
  if (!expected.ok) return expected;
  const why = present.fixed ?? kind.inUse(exchange, name);
  if (why !== undefined) return refuse(why);
  const tag = expected.value === undefined ? {} : { expected: expected.value };
  const isInFile =
    present.made === undefined || parts.configured().overridden.has(overriddenKey({ kind: kind.kind, name }));
  const change = { kind: kind.kind, name, document: undefined, ...(isInFile ? { isInFile } : {}), ...tag };
  const layer = kind.kind === "layer" ? asLayerName(name) : undefined;
  if (query.value.dryRun) {
    const preview = await parts.previewObject(change);
    if (!preview.ok) return refuse(inBody(preview.error));
    const document = await effectDocument(parts.operations, "removed", preview.value, layer);
    return { ...documentAnswer("ConfigurationEffect", document), isPreview: true };
  }
  const done = await parts.changeObject(change, exchange.by);
  if (!done.ok) return refuse(inBody(done.error));
  return { status: 204, body: "", detail: `${kind.what} ${name}: removed` };
}

/** Converts the paths of a refusal to paths of the request body. */
function inBody(refusal: Refusal): Refusal {
  // In the body the directory of a store has the same name as in GeoWebCache's documents.
  if (refusal.problems === undefined)
    return "message" in refusal
      ? { ...refusal, message: refusal.message.replace(/^baseDirectory: /, "path: ") }
      : refusal;
  const problems = refusal.problems.map((problem): PlacedProblem => {
    const own = inObject(problem, "keys");
    return own === undefined ? problem : { ...problem, file: "body", ...own };
  });
  const [first, ...others] = problems.map(({ message }) => message);
  return { code: "bad_field", message: first ?? "the body is not valid", details: others, problems };
}
