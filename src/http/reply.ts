import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../lib/time/clock.ts";
import { endInParts, markEventStream } from "./connection/slow-readers.ts";

/** The answer of a route or a protocol. */
export interface Answer {
  readonly status: number;
  readonly type?: string;
  /** An iterable is sent as a stream, without Content-Length. */
  readonly body: string | Uint8Array | AsyncIterable<string>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The account that the request has signed in, for the record of activity. */
  readonly signedIn?: string;
  /** True if the request was a preview. It changed nothing, so it is not recorded as a change. */
  readonly isPreview?: true;
  /**
   * Names the work that the request is a part of. Thousands of requests of a client with one name are recorded as one
   * change.
   */
  readonly repeats?: string;
  /** The first job that the request has made, for the log and the record of activity. */
  readonly jobId?: number;
  /** The object of the request with its old and new values, for the record of activity. It contains no secret. */
  readonly detail?: string;
  /** Unknown fields of the request that the resource has ignored, for the log. */
  readonly ignored?: readonly string[];
}

/**
 * Returns the content type of a text. It has a charset only if the text is not ASCII (`docs/reference/wire-format.md`,
 * Bodies).
 */
export const textType = (text: string): string =>
  /^[\0-\x7f]*$/.test(text) ? "text/plain" : "text/plain; charset=utf-8";
export const EVENT_STREAM_TYPE = "text/event-stream";
export const HTML_TYPE = "text/html; charset=utf-8";

/**
 * The Content-Security-Policy of all HTML pages. Maps use pictures with `blob:` and `data:` addresses. No inline script
 * runs, and no other host is contacted.
 */
export const POLICY_HEADER = {
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
} as const;

export const textAnswer = (status: number, body: string, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status,
  type: textType(body),
  body,
  headers,
});

/** Returns the answer with an HTML page. */
export const pageAnswer = (status: number, body: string, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status,
  type: HTML_TYPE,
  body,
  headers: { ...POLICY_HEADER, ...headers },
});

export const redirect = (location: string): Answer => ({
  status: 302,
  type: "text/plain",
  body: "",
  headers: { Location: location },
});

/** Sends an answer of the management interface, without a body for HEAD. Caches must not store it. */
export async function send(
  response: ServerResponse,
  answer: Answer,
  options: { readonly head: boolean; readonly draining: boolean; readonly clock: Clock },
): Promise<void> {
  if (response.headersSent || response.destroyed) return;
  const text = answer.body;
  const body = typeof text === "string" ? Buffer.from(text, "utf8") : text;
  const isWhole = body instanceof Uint8Array;
  const headers: Record<string, string> = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    ...(answer.type === undefined ? {} : { "Content-Type": answer.type }),
    ...(isWhole && answer.status !== 204 && answer.status !== 304 ? { "Content-Length": String(body.byteLength) } : {}),
    ...(options.draining ? { Connection: "close" } : {}),
    ...answer.headers,
  };
  response.writeHead(answer.status, headers);
  if (!options.head && !isWhole) {
    if (answer.type === EVENT_STREAM_TYPE) markEventStream(response);
    return sendStream(response, body);
  }
  const rest = options.head || !isWhole ? undefined : body;
  if (response.req.complete) {
    if (rest === undefined) response.end();
    else endInParts(response, rest);
    return;
  }
  response.flushHeaders();
  if (rest !== undefined && rest.byteLength > 0) response.write(rest);
  await discardRest(response.req, options.clock);
  response.end();
}

const DISCARD_MS = 10_000;
const DISCARD_BYTES = 64 * 1024 * 1024;

/**
 * Reads the remaining body of a refused request, up to a limit of time and bytes. Closing a connection with unread
 * bytes resets it. A client that writes its whole body before it reads (Python's, Java's) would then see the reset, not
 * the response.
 */
function discardRest(request: IncomingMessage, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    let left = DISCARD_BYTES;
    const timer = clock.after(DISCARD_MS, resolve);
    const done = (): void => {
      timer.cancel();
      resolve();
    };
    request.on("data", (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) done();
    });
    for (const event of ["end", "close", "error"]) request.once(event, done);
    request.resume();
  });
}

/**
 * Sends a stream. Waits while the client does not read, so that the stream does not fill the memory. Ends when the
 * client has disconnected.
 */
async function sendStream(response: ServerResponse, parts: AsyncIterable<string>): Promise<void> {
  response.flushHeaders();
  for await (const part of parts) {
    if (response.destroyed) return;
    if (response.write(part)) continue;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        response.off("drain", done);
        response.off("close", done);
        resolve();
      };
      response.on("drain", done);
      response.on("close", done);
    });
  }
  response.end();
}
