import type * as z from "zod";
import type { Refusal } from "../../lib/refusal.ts";
import type { Result } from "../../lib/result.ts";
import { jsonText } from "../../lib/text/json-text.ts";
import type { Need } from "../auth/rights.ts";
import type { Answer } from "../reply.ts";
import { parseId } from "../request/query.ts";
import {
  type Exchange,
  type Handler,
  METHODS,
  type Method,
  type Reply,
  type Resource,
  type RouteOptions,
} from "../resource.ts";
import type { Documents } from "./documents/documents.ts";
import { decodeStrictQuery, NO_FIELDS } from "./query-fields.ts";

type DocumentName = keyof Documents;

/** The description of an operation. Its right, its query and its answer follow, and so does the OpenAPI document. */
interface About<S extends z.ZodObject, N extends DocumentName> {
  /** The right that the operation needs. Absent for a GET that needs the right to read. */
  readonly need?: Need;
  /** `optional`: requests without an account are answered too. */
  readonly account?: Resource["account"];
  /** The query fields. Any other field is refused. Absent: a GET has no query fields, and other methods ignore them. */
  readonly query?: S;
  /** The query fields that the handler decodes itself, because further fields are parameters of a layer. */
  readonly openQuery?: z.ZodObject;
  /** The headers, and the description of the value in the path if it has one. */
  readonly headers?: readonly object[];
  readonly keyDescription?: string;
  /** The schema of the request document under its name, or the name of a document that answers have too. */
  readonly body?: Readonly<Record<string, z.ZodObject>> | DocumentName;
  /** The OpenAPI description of a body without such a document. */
  readonly openBody?: object;
  /** The document of the answer, or the documents of which the answer is one. */
  readonly answer?: N | readonly N[];
  /** The status of an answer with such a document. Absent: 200. */
  readonly status?: 201 | 202;
  /**
   * The answers by status that `answer` cannot describe. The handler returns such an answer itself. Absent, without
   * `answer`: the answer has no body.
   */
  readonly answers?: Readonly<Partial<Record<number, object>>>;
  /** The statuses of problem documents. */
  readonly failures?: readonly number[];
}

type NeedOf<R> = R extends `GET ${string}` ? unknown : { readonly need: Need };

/** A request to an operation. */
export interface Call<S extends z.ZodObject, K> extends Exchange {
  /** The value in the path. Empty for a path without braces. */
  readonly key: K;
  /** The decoded query fields. */
  readonly fields: z.output<S>;
}

/** A document with further facts of its answer, or a refusal. */
export type Outcome<T> = Result<T, Refusal> &
  Pick<Answer, "headers" | "signedIn" | "isPreview" | "repeats" | "jobId" | "detail">;

type Handle<S extends z.ZodObject, N extends DocumentName, K> = (
  parts: RouteOptions,
  call: Call<S, K>,
) => Promise<Outcome<Documents[N]> | Reply>;

/** An operation of `/api/v1`. Routing, rights and the OpenAPI document follow from it. */
export interface ApiOperation {
  readonly method: Method;
  /** The path below `/api/v1`. One segment may have braces: it matches the key, which is any text. */
  readonly path: string;
  /** Whether the key is a number. A path with another key has no resource. */
  readonly isNumbered: boolean;
  /** The name of the operation in generated clients. */
  readonly id: string;
  readonly summary: string;
  readonly about: About<z.ZodObject, DocumentName>;
  readonly handlerOf: (parts: RouteOptions, key: string) => Handler;
}

type OperationRoute = `${Method} /${string}`;

/** Describes an operation. `route` is the method and the path. */
type Describe<K> = <
  const R extends OperationRoute,
  N extends DocumentName = never,
  S extends z.ZodObject = z.ZodObject<Readonly<Record<never, z.ZodType>>>,
>(
  route: R,
  id: string,
  summary: string,
  about: About<S, N> & NeedOf<R>,
  handle: Handle<S, N, K>,
) => ApiOperation;

function describer<K>(isNumbered: boolean, keyOf: (text: string) => K): Describe<K>;
function describer<K>(isNumbered: boolean, keyOf: (text: string) => K) {
  return (
    route: OperationRoute,
    id: string,
    summary: string,
    about: ApiOperation["about"],
    handle: Handle<z.ZodObject, DocumentName, K>,
  ): ApiOperation => {
    const [name, path = ""] = route.split(" ");
    const method = METHODS.find((known) => known === name) ?? "GET";
    const { need = "read", query = method === "GET" && about.openQuery === undefined ? NO_FIELDS : undefined } = about;
    const handlerOf = (parts: RouteOptions, key: string): Handler => ({
      need,
      handle: async (exchange) => {
        const fields = query === undefined ? undefined : decodeStrictQuery(query, exchange);
        if (fields?.ok === false) return fields;
        return replyOf(
          await handle(parts, { ...exchange, key: keyOf(key), fields: fields?.value ?? {} }),
          about.status,
        );
      },
    });
    return { method, path, isNumbered, id, summary, about, handlerOf };
  };
}

/** Describes an operation whose key is a text. */
export const operation = describer(false, (text) => text);
/** Describes an operation whose key is a number, such as the id of a job. */
export const numberedOperation = describer(true, Number);

function replyOf(outcome: Outcome<unknown> | Reply, status: number | undefined): Reply {
  if (!("ok" in outcome) || !outcome.ok) return outcome;
  const { ok: _, value, ...facts } = outcome;
  return { ...json(value, status), ...facts };
}

export const json = (value: unknown, status = 200): Answer => ({
  status,
  type: "application/json",
  body: jsonText(value),
});

/** Returns a document as the answer. `name` is its name in the OpenAPI document. A missing field does not compile. */
export const documentAnswer = <N extends DocumentName>(
  _name: N,
  value: Documents[N],
  status = 200,
  headers: Answer["headers"] = {},
): Answer => ({ ...json(value, status), headers });

/** Returns the answer without a body. `detail` is for the record of activity. */
export const noContent = (detail?: string, headers: Answer["headers"] = {}): Answer => ({
  status: 204,
  body: "",
  headers,
  ...(detail === undefined ? {} : { detail }),
});

/** Adds a detail for the record of activity to a document. A refusal stays unchanged. */
export const detailed = <T>(view: Result<T, Refusal>, detail: (value: T) => string): Outcome<T> =>
  view.ok ? { ...view, detail: detail(view.value) } : view;

/** A segment of the paths. A fixed segment is matched before a key. */
interface PathNode {
  readonly segments: Map<string, PathNode>;
  key: PathNode | undefined;
  readonly operations: ApiOperation[];
}

const newNode = (): PathNode => ({ segments: new Map(), key: undefined, operations: [] });

function childOf(node: PathNode, segment: string): PathNode {
  if (segment.startsWith("{")) {
    node.key ??= newNode();
    return node.key;
  }
  const child = node.segments.get(segment) ?? newNode();
  node.segments.set(segment, child);
  return child;
}

/** Returns the function that finds the resource of the segments below `/api/v1`. Undefined if they have none. */
export function resourcesOf(
  operations: readonly ApiOperation[],
  parts: RouteOptions,
): (segments: readonly string[]) => Resource | undefined {
  const root = newNode();
  for (const one of operations) one.path.slice(1).split("/").reduce(childOf, root).operations.push(one);
  return (segments) => {
    let node = root;
    let key = "";
    for (const segment of segments) {
      const own = node.segments.get(segment);
      const next = own ?? node.key;
      if (next === undefined) return undefined;
      if (own === undefined) key = segment;
      node = next;
    }
    return resourceOf(node.operations, parts, key);
  };
}

function resourceOf(operations: readonly ApiOperation[], parts: RouteOptions, key: string): Resource | undefined {
  const [first] = operations;
  if (first === undefined || (first.isNumbered && parseId(key) === undefined)) return undefined;
  const methods = Object.fromEntries(operations.map(({ method, handlerOf }) => [method, handlerOf(parts, key)]));
  const { account } = first.about;
  return account === undefined ? { methods } : { methods, account };
}
