import type { IncomingHttpHeaders } from "node:http";
import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import {
  documentOf,
  type ObjectEffect,
  type ObjectKind,
  overriddenKey,
} from "../../../configuration/gwc/configured-object.ts";
import type { RootedDocument } from "../../../configuration/gwc/document-node.ts";
import { inObject } from "../../../configuration/gwc/object-origin.ts";
import { ownDocument } from "../../../configuration/gwc/own-document.ts";
import { asLayerName, type LayerName } from "../../../layer/tile-set.ts";
import { type Content, isMap } from "../../../lib/is-map.ts";
import { badField, conflict, type PlacedProblem, type Refusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { masked } from "../../../lib/text/masked.ts";
import { differences, withDetail } from "../../activity/activity-detail.ts";
import type { Exchange, Reply, RouteOptions } from "../../resource.ts";
import { type ApiOperation, type Call, documentAnswer, noContent, operation } from "../api-operation.ts";
import type { Documents } from "../documents/documents.ts";
import { parseConfigurationObject, withoutNulls } from "../json-body.ts";
import { answer, created, gone } from "../openapi/openapi-parts.ts";
import { flag } from "../query-fields.ts";
import { mergePatch, withSecrets } from "./secrets.ts";

const changeQuery = z.object({
  dryRun: flag("true: changes nothing, and returns the effect of the change"),
  truncate: flag("true: truncates the layer after the change, because its tiles are outdated"),
});

const removalQuery = changeQuery.pick({ dryRun: true });

type DocumentName = "Layer" | "GridSet" | "Store";

/** A kind of objects that PUT, PATCH and DELETE can change. `T` is an object in force. */
export interface ChangedKind<T, N extends DocumentName> {
  readonly kind: ObjectKind;
  /** The name of the kind for messages. */
  readonly what: string;
  /** The key of the content that contains the name. */
  readonly nameKey: "name" | "id";
  readonly find: (name: string) => T | undefined;
  readonly unknown: (name: string) => Refusal;
  /** Returns an object in the form of the configuration file, with secrets masked. */
  readonly shown: (found: T) => Content;
  /** Returns an object in the form of the configuration file, with its secrets. */
  readonly whole: (found: T) => Content;
  /** Returns the content of an object that was made over HTTP, with its secrets. */
  readonly made: (document: RootedDocument) => Content;
  readonly tag: (found: T) => string;
  /** Returns why an object cannot be changed over HTTP. Undefined if it can. */
  readonly fixed: (name: string) => Refusal | undefined;
  readonly describe: (
    found: T,
    facts: { readonly base: string; readonly editable: boolean },
  ) => Documents[N] | Promise<Documents[N]>;
  /** Returns why an object cannot have a name. Undefined if it can. Absent if no name is reserved. */
  readonly reserved?: (name: string) => Refusal | undefined;
  /** Returns the layers that use an object. Such an object cannot be removed. */
  readonly users: (exchange: Exchange, name: string) => readonly string[];
}

type Parts = Pick<RouteOptions, "configured" | "changeObject" | "previewObject" | "operations">;

/** The present state of an object. */
interface PresentObject {
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

/** The objects of a kind, which PUT, PATCH and DELETE change. */
interface ChangedObjects
  extends Pick<ChangedKind<never, DocumentName>, "kind" | "what" | "nameKey" | "unknown" | "reserved" | "users"> {
  readonly present: (name: string) => PresentObject | undefined;
  /** Returns the answer with an object. */
  readonly answer: (exchange: Exchange, name: string, status: number) => Promise<Reply>;
}

function objectsOf<T, N extends DocumentName>(
  { configured }: Parts,
  kind: ChangedKind<T, N>,
  { document, collection }: { readonly document: N; readonly collection: string },
): ChangedObjects {
  return {
    ...kind,
    present: (name) => {
      const found = kind.find(name);
      if (found === undefined) return undefined;
      const made = documentOf(configured().objects, kind.kind, name);
      return {
        shown: kind.shown(found),
        made: made && kind.made(made),
        whole: kind.whole(found),
        tag: kind.tag(found),
        fixed: kind.fixed(name),
      };
    },
    answer: async ({ base }, name, status) => {
      const found = kind.find(name);
      if (found === undefined) return refuse(kind.unknown(name));
      const editable = kind.fixed(name) === undefined && configured().geowebcache === undefined;
      const Location = `${base}/api/v1/${collection}/${encodeURIComponent(name)}`;
      const headers = { ETag: kind.tag(found), ...(status === 201 ? { Location } : {}) };
      return documentAnswer(document, await kind.describe(found, { base, editable }), status, headers);
    },
  };
}

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
 * @param collection the first segment of the path
 * @param summary of GET
 * @param keys the document of the keys of the configuration. Absent: any object
 */
export function objectOperations<T, N extends DocumentName>(
  [collection, key]: readonly [collection: string, key: string],
  document: N,
  { summary, keys }: { readonly summary: string; readonly keys?: keyof Documents },
  kindOf: (parts: RouteOptions) => ChangedKind<T, N>,
): readonly ApiOperation[] {
  const path = `/${collection}/{${key}}` as const;
  const objects = (parts: RouteOptions) => objectsOf(parts, kindOf(parts), { document, collection });
  const changes = { need: "administer", headers: [ifMatch], query: changeQuery } as const;
  const failures = [400, 404, 409, 412, 413];
  const effect = answer(document, "ConfigurationEffect");
  return [
    operation(
      `GET ${path}`,
      `get${document}`,
      summary,
      { answers: { 200: answer(document) }, failures: [404] },
      (parts, exchange) => objects(parts).answer(exchange, exchange.key, 200),
    ),
    operation(
      `PUT ${path}`,
      `put${document}`,
      "Creates or replaces an object that was made over HTTP: the keys of the configuration",
      {
        ...changes,
        ...(keys === undefined ? { openBody: ANY_OBJECT } : { body: keys }),
        answers: { 200: effect, 201: created(document) },
        failures,
      },
      (parts, call) => changed(parts, objects(parts), call, "PUT"),
    ),
    operation(
      `PATCH ${path}`,
      `change${document}`,
      "Changes single keys of an object that was made over HTTP (RFC 7396)",
      { ...changes, openBody: ANY_OBJECT, answers: { 200: effect }, failures },
      (parts, call) => changed(parts, objects(parts), call, "PATCH"),
    ),
    operation(
      `DELETE ${path}`,
      `remove${document}`,
      "Removes an object that was made over HTTP, and the tiles of a removed layer",
      {
        ...changes,
        query: removalQuery,
        answers: { 200: answer("ConfigurationEffect"), ...gone },
        failures: [400, 404, 409, 412],
      },
      (parts, call) => removed(parts, objects(parts), call),
    ),
  ];
}

/** Returns a content as parsed JSON, without undefined members. */
const plain = (content: Content): unknown => JSON.parse(JSON.stringify(content));

async function changed(
  parts: Parts,
  kind: ChangedObjects,
  exchange: Call<typeof changeQuery, string>,
  method: "PUT" | "PATCH",
): Promise<Reply> {
  const { key: name, fields } = exchange;
  const { dryRun, truncate } = fields;
  const present = kind.present(name);
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
  const document = ownDocument(isMap(filled.value) ? filled.value : {});
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
function inDirectory({ configured }: Parts, { what }: ChangedObjects, name: string): Refusal | undefined {
  const directory = configured().geowebcache?.directory;
  return directory === undefined
    ? undefined
    : conflict(
        `The ${what} ${name} would be written into ${directory}, whose file has only GeoWebCache's elements: change it under /rest.`,
      );
}

const NO_EFFECT: ObjectEffect = { layers: [], moved: [], relocated: [] };

/** Returns a content with the name in the address. Refuses another name in the content. */
function named({ nameKey }: ChangedObjects, content: unknown, name: string): Result<Content, Refusal> {
  const given = isMap(content) ? content : {};
  const own = given[nameKey] ?? name;
  return own === name
    ? ok({ ...given, [nameKey]: name })
    : refuse(badField(nameKey, `the name in the address, ${JSON.stringify(name)}`, own));
}

async function removed(
  parts: Parts,
  kind: ChangedObjects,
  exchange: Call<typeof removalQuery, string>,
): Promise<Reply> {
  const { key: name, fields } = exchange;
  const present = kind.present(name);
  if (present === undefined) return refuse(kind.unknown(name));
  const expected = expectedTag(exchange.headers, present.tag);
  if (!expected.ok) return expected;
  if (present.fixed !== undefined) return refuse(present.fixed);
  const users = kind.users(exchange, name);
  if (users.length > 0) return refuse(conflict(`The ${kind.what} ${name} is in use by ${users.join(", ")}.`));
  const tag = expected.value === undefined ? {} : { expected: expected.value };
  const isInFile =
    present.made === undefined || parts.configured().overridden.has(overriddenKey({ kind: kind.kind, name }));
  const change = { kind: kind.kind, name, document: undefined, ...(isInFile ? { isInFile } : {}), ...tag };
  const layer = kind.kind === "layer" ? asLayerName(name) : undefined;
  if (fields.dryRun) {
    const preview = await parts.previewObject(change);
    if (!preview.ok) return refuse(inBody(preview.error));
    const document = await effectDocument(parts.operations, "removed", preview.value, layer);
    return { ...documentAnswer("ConfigurationEffect", document), isPreview: true };
  }
  const done = await parts.changeObject(change, exchange.by);
  if (!done.ok) return refuse(inBody(done.error));
  return noContent(`${kind.what} ${name}: removed`);
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

const failed = (message: string): { readonly ok: false; readonly error: Refusal } =>
  refuse({ code: "precondition_failed", message });

/**
 * Returns the tag that an object must have when it is changed (RFC 9110, 13.1): null if the object must not exist,
 * undefined if it may have any state.
 * @param tag the tag of the present object; null if the object does not exist
 */
export function expectedTag(
  headers: IncomingHttpHeaders,
  tag: string | null,
): Result<string | null | undefined, Refusal> {
  const match = headers["if-match"];
  if (match !== undefined) {
    const isMatched = tag !== null && (match.trim() === "*" || tagsIn(match).includes(tag));
    return isMatched ? ok(tag) : failed(`If-Match: expected ${tag ?? "an object that exists"}, got ${match}`);
  }
  const none = headers["if-none-match"];
  if (none === undefined) return ok(undefined);
  if (tag === null) return ok(null);
  return none.trim() === "*" || tagsIn(none).includes(tag)
    ? failed(`If-None-Match: the object exists, with the tag ${tag}`)
    : ok(undefined);
}

/** Weak tags never match: a change needs the state byte for byte. */
const tagsIn = (header: string): readonly string[] => header.split(",").map((tag) => tag.trim());

type Effect = Documents["ConfigurationEffect"];
type Invalid = Effect["invalid"][number];

/** The tile sets of a layer that a change invalidates: all tile sets, or the tile sets of some grid sets. */
type Scope = "all" | ReadonlySet<string>;

/**
 * Returns the document of the effect that a change has or would have.
 * @param truncated the layer whose tiles the change removes, if any
 */
async function effectDocument(
  operations: RouteOptions["operations"],
  result: Effect["result"],
  { layers, moved, relocated }: ObjectEffect,
  truncated: LayerName | undefined,
): Promise<Effect> {
  const scopes = new Map<LayerName, Scope>();
  for (const { layer } of moved)
    scopes.set(layer, new Set(moved.filter((one) => one.layer === layer).map(({ gridSet }) => gridSet)));
  for (const layer of [...relocated, ...(truncated === undefined ? [] : [truncated])]) scopes.set(layer, "all");
  const invalid: Invalid[] = [];
  for (const [layer, scope] of scopes) {
    const { tileSets = [] } = await operations.usage({ tileSets: true, layer });
    for (const { gridSet, format, parametersId, tiles, bytes, bytesOnDisk } of tileSets)
      if (scope === "all" || scope.has(gridSet))
        invalid.push({ layer, gridSet, format, parametersId, tiles, bytes, bytesOnDisk });
  }
  const sum = (of: (one: Invalid) => bigint): bigint => invalid.reduce((total, one) => total + of(one), 0n);
  return {
    result,
    layers: [...layers],
    invalid,
    tiles: sum(({ tiles }) => tiles),
    bytes: sum(({ bytes }) => bytes),
    bytesOnDisk: sum(({ bytesOnDisk }) => bytesOnDisk),
  };
}
