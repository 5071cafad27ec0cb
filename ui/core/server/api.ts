import type { Documents } from "../../../src/http/api/documents/documents.ts";
import { apiAddress } from "./base.ts";
import { jsonText, parseJson, type Wire } from "./json.ts";

/** A document of `/api/v1` as the console receives it, by its name in the OpenAPI document. */
export type Doc<N extends keyof Documents> = Wire<Documents[N]>;
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** A request to `/api/v1`. The console shows each as curl before it sends it. */
export interface ApiRequest {
  readonly method: Method;
  /** The path under `/api/v1/`, with its query. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A refusal of the server (RFC 9457), or a failure of the network (`status` is 0). */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly status: number;
  readonly code: string;
  /** The whole document. */
  readonly document: Readonly<Record<string, unknown>>;

  constructor(status: number, code: string, message: string, document: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.document = document;
  }
}

/** Headers that the session adds to every request, and its reaction to a required sign-in. */
export interface Credentials {
  csrfToken: string | undefined;
  signInNeeded: () => void;
}
export const credentials: Credentials = { csrfToken: undefined, signInNeeded: () => {} };

/**
 * Sends a request and returns the document of the answer.
 * @throws Problem
 */
export const send = async <T>(request: ApiRequest, signal?: AbortSignal): Promise<T> =>
  (await sendTagged<T>(request, signal)).document;

/** The document of an answer, and its entity tag. */
export interface Tagged<T> {
  readonly document: T;
  readonly tag: string | null;
}

/**
 * Sends a request and returns the document of the answer with its entity tag.
 * @throws Problem
 */
export async function sendTagged<T>(
  { method, path, body, headers = {} }: ApiRequest,
  signal?: AbortSignal,
): Promise<Tagged<T>> {
  const response = await fetch(apiAddress(path), {
    method,
    headers: {
      Accept: "application/json",
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...(method === "GET" || credentials.csrfToken === undefined ? {} : { "X-CSRF-Token": credentials.csrfToken }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : jsonText(body) }),
    ...(signal === undefined ? {} : { signal }),
    credentials: "same-origin",
    cache: "no-store",
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error;
    throw new Problem(0, "unreachable", "The server does not answer.");
  });
  const text = await response.text();
  if (response.ok)
    return { document: (text === "" ? undefined : parseJson(text)) as T, tag: response.headers.get("ETag") };
  if (response.status === 401 && !path.startsWith("session")) credentials.signInNeeded();
  throw problemOf(response.status, text);
}

function problemOf(status: number, text: string): Problem {
  try {
    const document = parseJson<Record<string, unknown>>(text);
    const { code, detail, title } = document;
    const message = [detail, title].find((one) => typeof one === "string") ?? text;
    return new Problem(status, typeof code === "string" ? code : String(status), String(message), document);
  } catch {
    return new Problem(status, String(status), text.slice(0, 500) || `HTTP ${status}`);
  }
}

/**
 * Reads a document. The name selects its type: `get("Jobs", "jobs?limit=5")`.
 * @throws Problem
 */
export const get = <N extends keyof Documents>(_name: N, path: string, signal?: AbortSignal): Promise<Doc<N>> =>
  send<Doc<N>>({ method: "GET", path }, signal);

/** Returns a query string with "?" from the values that are not undefined. Empty if all are undefined. */
export function queryOf(values: Readonly<Record<string, string | number | bigint | boolean | undefined>>): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(values))
    if (value !== undefined && value !== "") query.set(key, String(value));
  return query.size === 0 ? "" : `?${query}`;
}

export const asProblem = (error: unknown): Problem =>
  error instanceof Problem ? error : new Problem(0, "fault", error instanceof Error ? error.message : String(error));
