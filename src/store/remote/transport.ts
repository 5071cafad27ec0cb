import type { Dispatcher } from "undici";
import request from "undici/lib/api/api-request.js";
import { codeOf } from "../../lib/error-code.ts";
import type { Disk } from "../../lib/file/disk.ts";
import { createDispatcher } from "../../lib/http/http-dispatcher.ts";
import { RemoteError, remoteFailure } from "./remote-error.ts";

/** A request as it is sent. */
export interface SignedRequest {
  /** Encoded, with the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface RemoteResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
}

export interface TransportOptions {
  readonly disk: Disk;
  readonly origin: string;
  readonly connections: number;
  readonly caFile?: string;
  readonly connectTimeoutMs: number;
  /** `none` for a server on the machine's own link, or the address of a proxy. Absent: the proxies of the environment. */
  readonly proxy?: string;
}

/** The error code of a request without an answer. */
export const NO_ANSWER = "no answer in time";

/** The longest body of an answer in bytes: a page of a listing has less than 2 MB, and a tile may have 64 MiB. */
const LONGEST_BODY = 64 * 2 ** 20;

/** Sends signed requests over persistent connections, and reads whole bodies. */
export class Transport implements AsyncDisposable {
  readonly #dispatcher: Dispatcher;
  readonly #origin: string;

  constructor({ disk, origin, connections, caFile, connectTimeoutMs, proxy }: TransportOptions) {
    this.#origin = origin;
    this.#dispatcher = createDispatcher(origin, "configured", {
      connections,
      connectTimeoutMs,
      ...(proxy === undefined ? {} : { proxy }),
      ...(caFile === undefined ? {} : { tls: () => ({ ca: disk.readFileSync(caFile, "utf8") }) }),
    });
  }

  /** @throws RemoteError with status 0 if the whole answer did not arrive before the signal fires */
  async send(
    method: Dispatcher.HttpMethod,
    { path, headers }: SignedRequest,
    body: Uint8Array | undefined,
    signal: AbortSignal,
  ): Promise<RemoteResponse> {
    try {
      const {
        statusCode,
        headers: answered,
        body: stream,
      } = await request.call(this.#dispatcher, {
        origin: this.#origin,
        method,
        path,
        headers,
        body: body ?? null,
        signal,
      });
      return { status: statusCode, headers: flat(answered), body: await wholeBody(stream) };
    } catch (error) {
      if (error instanceof RemoteError) throw error;
      throw remoteFailure(0, signal.aborted ? NO_ANSWER : codeOf(error) || "the connection failed", error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#dispatcher.destroy();
  }
}

function flat(headers: Readonly<Record<string, string | string[] | undefined>>): Readonly<Record<string, string>> {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) plain[name] = Array.isArray(value) ? value.join(", ") : value;
  return plain;
}

async function wholeBody(stream: AsyncIterable<Uint8Array> & { destroy(): unknown }): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of stream) {
    length += part.byteLength;
    if (length > LONGEST_BODY) {
      stream.destroy();
      throw new RemoteError(0, "the answer is too long");
    }
    parts.push(part);
  }
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
}
