import { Agent, request as send } from "undici";
import type { UpstreamOptions } from "../layer/layer.ts";
import { currentTrace } from "../lib/trace-context.ts";
import { ownVersion } from "../lib/version.ts";
import { failureOf, type UpstreamAnswer } from "./picture-answer.ts";
import { SourceError } from "./source.ts";

/** No map picture of a metatile is larger. */
const BODY_LIMIT = 64 * 1024 * 1024;
const REDIRECTS = 3;
const PICTURES = "image/*, application/vnd.ogc.se_xml;q=0.5, */*;q=0.1";
/** A parameter may be a key; shorter than this it is a word that messages need. */
const SHORTEST_KEY = 8;

/** Answers of one upstream over HTTP, with the credentials it is given for. */
export interface HttpFetch extends AsyncDisposable {
  /**
   * What is at an address, whole by length, as `understand` reads it; that may throw a SourceError.
   * `accept`: what is wanted, if no picture.
   * @throws SourceError without the address or the credentials in its message; `cancelled` when the signal fires
   */
  ask<T>(url: URL, signal: AbortSignal, understand: (answer: UpstreamAnswer) => T, accept?: string): Promise<T>;
}

/** Which connections may be used is decided above; here they are only kept alive. `servers`: all that may be asked. */
export function createHttpFetch(options: Omit<UpstreamOptions, "url">, servers: readonly URL[]): HttpFetch {
  const agent = new Agent({
    connections: options.connections,
    connect: { timeout: options.timeoutMs },
    headersTimeout: options.timeoutMs,
    bodyTimeout: options.timeoutMs,
    pipelining: 1,
  });
  const headers: Record<string, string> = {
    "user-agent": `Nuthatch/${ownVersion()}`,
    // Without it any coding would do (RFC 9110, 12.5.3). Pictures are compressed; nothing is inflated that is not measured.
    "accept-encoding": "identity",
  };
  if (options.username !== undefined) {
    headers["authorization"] =
      `Basic ${Buffer.from(`${options.username}:${options.password ?? ""}`).toString("base64")}`;
  }

  const basic = headers["authorization"]?.slice("Basic ".length);
  const secrets = [
    ...servers.flatMap(({ host, hostname }) => [host, hostname]),
    basic ?? "",
    options.username ?? "",
    options.password ?? "",
    ...[...Object.values(options.vendorParameters), ...servers.flatMap((url) => [...url.searchParams.values()])].filter(
      (value) => value.length >= SHORTEST_KEY,
    ),
  ].filter((s) => s !== "");

  async function read(first: URL, accept: string, signal: AbortSignal): Promise<UpstreamAnswer> {
    let url = first;
    for (let hop = 0; ; hop++) {
      const sameOrigin = url.origin === first.origin;
      // Credentials are for the configured server only.
      const { authorization: _, ...without } = headers;
      const sent = { ...(sameOrigin ? headers : without), accept, ...currentTrace() };
      const response = await send(url, { dispatcher: agent, headers: sent, signal });
      const { statusCode: status } = response;
      const location = single(response.headers["location"]);
      if (status >= 300 && status < 400 && location !== undefined) {
        await response.body.dump();
        if (hop === REDIRECTS) throw new SourceError("http_status", `status ${status}: redirected too often`);
        const next = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
        if (next?.protocol !== "http:" && next?.protocol !== "https:")
          throw new SourceError("http_status", `status ${status}: redirected to no address`);
        url = next;
        continue;
      }
      if (Number(single(response.headers["content-length"]) ?? 0) > BODY_LIMIT) {
        response.body.destroy();
        throw new SourceError("too_large", `the answer is larger than ${BODY_LIMIT} bytes`);
      }
      const chunks: Buffer[] = [];
      let size = 0;
      try {
        for await (const chunk of response.body) {
          size += chunk.length;
          if (size > BODY_LIMIT) throw new SourceError("too_large", `the answer is larger than ${BODY_LIMIT} bytes`);
          chunks.push(chunk);
        }
      } catch (error) {
        const failure = failureOf(error);
        throw failure.failure === "reset"
          ? new SourceError("truncated", "the connection broke in the middle of the answer", { cause: error })
          : failure;
      }
      return {
        status,
        contentType: single(response.headers["content-type"]) ?? "",
        retryAfter: single(response.headers["retry-after"]),
        body: chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks),
      };
    }
  }

  return {
    async ask<T>(
      url: URL,
      signal: AbortSignal,
      understand: (answer: UpstreamAnswer) => T,
      accept = PICTURES,
    ): Promise<T> {
      // One timer for the whole request: a slow drip resets the body time-out with every byte.
      const timeout = new AbortController();
      const timer = setTimeout(() => timeout.abort(), options.timeoutMs);
      try {
        return understand(await read(url, accept, AbortSignal.any([signal, timeout.signal])));
      } catch (error) {
        if (signal.aborted) throw new SourceError("cancelled", "cancelled", { cause: error });
        if (timeout.signal.aborted)
          throw new SourceError("timeout", `no whole answer in ${options.timeoutMs / 1000} seconds`, { cause: error });
        throw withoutSecrets(failureOf(error), secrets);
      } finally {
        clearTimeout(timer);
      }
    },
    /** What is being drawn ends first. */
    async [Symbol.asyncDispose]() {
      await agent.close();
    },
  };
}

/** Error pages name their server, and some repeat what they were sent. */
function withoutSecrets(error: SourceError, secrets: readonly string[]): SourceError {
  const message = secrets.reduce(
    (text, secret) => text.replace(new RegExp(`(?<![\\w.-])${escapeRegExp(secret)}(?![\\w-])`, "gi"), "…"),
    error.message,
  );
  if (message === error.message) return error;
  const { failure, retryAfterMs, cause } = error;
  return new SourceError(failure, message, { cause, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
}

const escapeRegExp = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|\-/]/g, "\\$&");

const single = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);
