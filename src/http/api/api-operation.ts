import type * as z from "zod";
import { parseId } from "../query.ts";
import { type Handler, METHODS, type Method, type Resource, type RouteOptions } from "../resource.ts";

/** The description of an operation in the OpenAPI document. */
export interface About {
  /** The query fields. The handler decodes them. */
  readonly query?: z.ZodObject;
  /** The headers, and the description of the value in the path if it has one. */
  readonly headers?: readonly object[];
  readonly keyDescription?: string;
  /** The name of the request document, or the OpenAPI description of another body. */
  readonly body?: string | object;
  /** The answers by status, or the name of the document of an answer with the status 200. */
  readonly answers: string | Readonly<Partial<Record<number, object>>>;
  /** The statuses of problem documents. */
  readonly failures?: readonly number[];
}

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
  readonly about: About;
  readonly account?: Resource["account"];
  /** Returns the handler. `key` is empty for a path without braces. */
  readonly handlerOf: (parts: RouteOptions, key: string) => Handler;
}

/** Describes an operation whose key is a text. `route` is the method and the path. */
export function operation(
  route: `${Method} /${string}`,
  id: string,
  summary: string,
  about: About,
  handlerOf: ApiOperation["handlerOf"],
): ApiOperation {
  const [name, path = ""] = route.split(" ");
  const method = METHODS.find((known) => known === name) ?? "GET";
  return { method, path, isNumbered: false, id, summary, about, handlerOf };
}

/** Describes an operation whose key is a number, such as the id of a job. */
export const numberedOperation = (
  route: `${Method} /${string}`,
  id: string,
  summary: string,
  about: About,
  handlerOf: (parts: RouteOptions, key: number) => Handler,
): ApiOperation => ({
  ...operation(route, id, summary, about, (parts, key) => handlerOf(parts, Number(key))),
  isNumbered: true,
});

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
  return first.account === undefined ? { methods } : { methods, account: first.account };
}
