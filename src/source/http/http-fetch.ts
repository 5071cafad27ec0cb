import type { UpstreamOptions } from "../../layer/layer.ts";
import { escapeXml } from "../../lib/escape.ts";
import { MalformedAnswer } from "../../lib/http-answer.ts";
import { HttpClient, TooLate } from "../../lib/http-client.ts";
import { BrokenAnswer } from "../../lib/http-connection.ts";
import { currentTrace } from "../../lib/trace-context.ts";
import { ownVersion } from "../../lib/version.ts";
import { SourceError } from "../source.ts";
import { failureOf, type UpstreamAnswer } from "./image-response.ts";

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
  const client = new HttpClient({ connections: options.connections });
  const headers: Record<string, string> = {
    "user-agent": `Nuthatch/${ownVersion()}`,
    // Without it any coding would do (RFC 9110, 12.5.3). Pictures are compressed; nothing is inflated that is not measured.
    "accept-encoding": "identity",
  };
  if (options.username !== undefined) {
    headers["authorization"] =
      `Basic ${Buffer.from(`${options.username}:${options.password ?? ""}`).toString("base64")}`;
  }

  const { authorization: _, ...strangers } = headers;
  /** By what is accepted: what is sent to the configured server, where there is no trace. */
  const usual = new Map<string, Readonly<Record<string, string>>>();
  const sentTo = (isOurs: boolean, accept: string): Readonly<Record<string, string>> => {
    const trace = currentTrace();
    if (!isOurs || trace !== undefined) return { ...(isOurs ? headers : strangers), accept, ...trace };
    const known = usual.get(accept) ?? { ...headers, accept };
    usual.set(accept, known);
    return known;
  };
  const basic = headers["authorization"]?.slice("Basic ".length);
  const secrets = [
    ...servers.flatMap(namesIn),
    basic ?? "",
    options.username ?? "",
    options.password ?? "",
    ...Object.values(options.vendorParameters).filter(isKey),
  ];
  const usually = hiding(secrets);

  const allowed = new Set(servers.map(({ host }) => host));
  /** A redirect leads to the internet or to an upstream's own server: elsewhere it would show clients what is not for them. */
  const mayBePrivate = (url: URL, first: URL): boolean =>
    options.allowPrivateRedirects === true || url.host === first.host || allowed.has(url.host);

  /** `met`: takes the addresses that it was sent on to. */
  async function read(first: URL, accept: string, signal: AbortSignal, met: URL[]): Promise<UpstreamAnswer> {
    // Of the whole request: a slow drip sends something all the time.
    const untilMs = performance.now() + options.timeoutMs;
    let url = first;
    for (let hop = 0; ; hop++) {
      // Credentials are for the configured server only.
      const sent = sentTo(hop === 0 || url.origin === first.origin, accept);
      const isPublic = !mayBePrivate(url, first);
      const question = { method: "GET", headers: sent, untilMs, limit: BODY_LIMIT, isPublic } as const;
      const { status, headers: told, body } = await client.ask(url, question, signal);
      const location = status >= 300 && status < 400 ? told.get("location") : undefined;
      if (body === undefined) throw new SourceError("too_large", `the answer is larger than ${BODY_LIMIT} bytes`);
      if (location === undefined)
        return { status, contentType: told.get("content-type") ?? "", retryAfter: told.get("retry-after"), body };
      if (hop === REDIRECTS) throw new SourceError("http_status", `status ${status}: redirected too often`);
      const next = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
      if (next?.protocol !== "http:" && next?.protocol !== "https:")
        throw new SourceError("http_status", `status ${status}: redirected to no address`);
      met.push(next);
      url = next;
    }
  }

  return {
    async ask<T>(
      url: URL,
      signal: AbortSignal,
      understand: (answer: UpstreamAnswer) => T,
      accept = PICTURES,
    ): Promise<T> {
      const met: URL[] = [];
      const hidden = () => {
        if (met.length === 0) return usually;
        // What was asked for is repeated along the way, and its words are needed.
        const asked = new Set(url.searchParams.values());
        return hiding([...secrets, ...met.flatMap(namesIn).filter((value) => !asked.has(value))]);
      };
      try {
        const answer = await read(url, accept, signal, met);
        try {
          return understand(answer);
        } catch (error) {
          // Said again in words that had the secrets taken out before anything was cut off or left out of them.
          if (error instanceof SourceError) understand({ ...answer, body: hidden().hideIn(answer.body) });
          throw error;
        }
      } catch (error) {
        if (signal.aborted) throw new SourceError("cancelled", "cancelled", { cause: error });
        if (error instanceof TooLate)
          throw new SourceError("timeout", `no whole answer in ${options.timeoutMs / 1000} seconds`, { cause: error });
        const failure = failureOf(error);
        // Within its head there is no answer yet.
        if (error instanceof BrokenAnswer && error.status !== undefined && failure.failure === "reset")
          throw new SourceError("truncated", "the connection broke in the middle of the answer", { cause: error });
        if (error instanceof MalformedAnswer) throw new SourceError("reset", error.message, { cause: error });
        throw withoutSecrets(failure, hidden().hide);
      }
    },
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}

/** What an address may be known by, or let somebody in with. */
const namesIn = ({ host, hostname, searchParams }: URL): readonly string[] => [
  host,
  hostname,
  ...[...searchParams.values()].filter(isKey),
];
const isKey = (value: string): boolean => value.length >= SHORTEST_KEY;

/** Of a text, as much as words are taken from. */
const LONGEST_TEXT = 64 * 1024;

/** Error pages name their server, and some repeat what they were sent. */
function hiding(values: readonly string[]): {
  readonly hide: (text: string) => string;
  /** The beginning of a body; what is hidden in it stays hidden where it is cut. */
  readonly hideIn: (body: Uint8Array) => Uint8Array;
} {
  const patterns = [...new Set(values.filter((value) => value !== "").flatMap(formsOf))]
    // The longest first, as a form may be a part of another.
    .sort((a, b) => b.length - a.length)
    .map((form) => {
      const literal = escapeRegExp(form);
      // What is shorter may be a part of any word.
      return new RegExp(form.length >= SHORTEST_KEY ? literal : `(?<![\\w.-])${literal}(?![\\w-])`, "gi");
    });
  const hide = (text: string): string => patterns.reduce((left, pattern) => left.replace(pattern, "…"), text);
  return {
    hide,
    hideIn: (body) => {
      const text = Buffer.from(body.subarray(0, LONGEST_TEXT)).toString("utf8");
      const hidden = hide(text);
      return hidden === text ? body : Buffer.from(hidden);
    },
  };
}

/** As it is, as it stands in an address, in the address of an address, and in a page. */
function formsOf(value: string): readonly string[] {
  const encoded = encodeURIComponent(value);
  const inQuery = new URLSearchParams({ "": value }).toString().slice(1);
  const inPage = escapeXml(value);
  return [value, encoded, inQuery, encodeURIComponent(encoded), inPage, inPage.replaceAll("&amp;", "&#38;")];
}

function withoutSecrets(error: SourceError, hide: (text: string) => string): SourceError {
  const message = hide(error.message);
  if (message === error.message) return error;
  const { failure, retryAfterMs, cause } = error;
  return new SourceError(failure, message, { cause, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
}

const escapeRegExp = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|\-/]/g, "\\$&");
