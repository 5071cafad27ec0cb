import { readFileSync } from "node:fs";
import querystring from "node:querystring";
import type { TlsOptions, UpstreamOptions } from "../../layer/source-options.ts";
import { codeOf } from "../../lib/error-code.ts";
import { HttpClient } from "../../lib/http/http-client.ts";
import type { ServerKind, TlsFiles } from "../../lib/http/http-dispatcher.ts";
import { type HttpAnswer, headerOf } from "../../lib/http/http-exchange.ts";
import { BrokenAnswer, MalformedAnswer, TooLate } from "../../lib/http/http-failure.ts";
import { proxiesOfEnvironment } from "../../lib/http/proxies.ts";
import { currentTrace } from "../../lib/http/trace-context.ts";
import { ownVersion } from "../../lib/process/version.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { SourceError } from "../source.ts";
import { decodedBody } from "./content-coding.ts";
import { SourceCookies } from "./cookies.ts";
import { type Credentials, credentialsOf } from "./credentials.ts";
import { hiding, isKey, secretsIn } from "./hide-secrets.ts";
import { failureOf, retryAfterMs, type UpstreamAnswer } from "./image-response.ts";
import type { FormRequest } from "./query.ts";

/** The size limit in bytes of an answer's body. The picture of a metatile is smaller. */
const BODY_LIMIT = 64 * 1024 * 1024;
const REDIRECTS = 3;
const FORM_TYPE = "application/x-www-form-urlencoded";
const PICTURES = "image/*, application/vnd.ogc.se_xml;q=0.5, */*;q=0.1";

/** Sends requests to one upstream over HTTP, with its configured credentials. */
export interface HttpFetch extends AsyncDisposable {
  /**
   * Sends a request, reads the whole answer and returns the result of `understand`, which may throw a SourceError.
   * `accept` is the Accept header; absent: pictures.
   * @throws SourceError without the address or the credentials in its message; `cancelled` when the signal fires
   */
  request<T>(
    request: FormRequest,
    signal: AbortSignal,
    understand: (answer: UpstreamAnswer) => T,
    accept?: string,
  ): Promise<T>;
}

/** @param servers the configured servers. Only they get the credentials, and redirects to them are always followed. */
export function createHttpFetch(
  clock: Clock,
  options: Omit<UpstreamOptions, "url">,
  servers: readonly URL[],
): HttpFetch {
  const credentials = credentialsOf(options);
  const secrets = [
    ...servers.flatMap(secretsIn),
    ...proxySecrets(options.proxy),
    ...(credentials?.secrets ?? []),
    ...Object.values(options.vendorParameters).filter(isKey),
    ...Object.values(options.headers ?? {}).flatMap(secretsInHeader),
  ];
  const hider = hiding(secrets);
  const configured = new Set(servers.map(({ host }) => host));

  const { tls } = options;
  const client = new HttpClient({
    connections: options.connections,
    connectTimeoutMs: options.timeoutMs,
    ...(options.proxy === undefined ? {} : { proxy: options.proxy }),
    ...(tls === undefined ? {} : { tls: () => readTlsFiles(tls) }),
  });

  const cookies = options.cookies === true ? new SourceCookies() : undefined;
  const read = followingRedirects(client, { clock, credentials, cookies, configured, options });

  let isClosed = false;
  let running = 0;
  let reportIdle = (): void => {};
  const readWhileOpen: Read = async (request, accept, signal, met) => {
    if (isClosed) throw new SourceError("cancelled", "cancelled");
    running++;
    try {
      return await read(request, accept, signal, met);
    } finally {
      if (--running === 0) reportIdle();
    }
  };

  return {
    async request<T>(
      request: FormRequest,
      signal: AbortSignal,
      understand: (answer: UpstreamAnswer) => T,
      accept = PICTURES,
    ): Promise<T> {
      const met: Met = { addresses: [], keys: [] };
      const hiderOf = () => {
        if (met.addresses.length === 0 && met.keys.length === 0) return hider;
        // Redirects repeat parameters of the request, and messages need these words.
        const sent = [request.url.searchParams, new URLSearchParams(request.form)];
        const requested = new Set(sent.flatMap((parameters) => [...parameters.values()]));
        const inAddresses = met.addresses.flatMap(secretsIn).filter((value) => !requested.has(value));
        return hiding([...secrets, ...inAddresses, ...met.keys.filter(isKey)]);
      };
      try {
        const answer = await readWhileOpen(request, accept, signal, met);
        try {
          return understand(answer);
        } catch (error) {
          // Calls `understand` again on the body without secrets, because secrets must be removed before the message is
          // shortened.
          if (error instanceof SourceError) understand(hiderOf().hideIn(answer));
          throw error;
        }
      } catch (error) {
        if (signal.aborted) throw new SourceError("cancelled", "cancelled", { cause: error });
        throw withoutSecrets(requestFailure(error, options.timeoutMs), hiderOf().hide);
      }
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      // Between the requests of a redirect or of a log-in, the client has no request in progress that its closing would
      // wait for.
      if (running > 0)
        await new Promise<void>((resolve) => {
          reportIdle = resolve;
        });
      await client[Symbol.asyncDispose]();
    },
  };
}

/** The secrets and addresses that a request encountered, which messages must not show. */
interface Met {
  /** The addresses of redirects. */
  readonly addresses: URL[];
  /** Answers to challenges, and values of cookies. */
  readonly keys: string[];
}

/** Reads the answer to a request. Adds the encountered addresses and keys to `met`. */
type Read = (request: FormRequest, accept: string, signal: AbortSignal, met: Met) => Promise<UpstreamAnswer>;

/** The redirect statuses that preserve the method and the body (RFC 9110, 15.4.8 and 15.4.9). */
const KEEPING: ReadonlySet<number> = new Set([307, 308]);

interface Following {
  readonly clock: Clock;
  readonly credentials: Credentials | undefined;
  readonly cookies: SourceCookies | undefined;
  /** The hosts of the configured servers. */
  readonly configured: ReadonlySet<string>;
  readonly options: Omit<UpstreamOptions, "url">;
}

function followingRedirects(client: HttpClient, { clock, credentials, cookies, configured, options }: Following): Read {
  const headersOf = headersFor(options);
  /**
   * A redirect to a server that is not configured must lead into the public internet. Clients see the answer, and they
   * may not be allowed to see answers of a private server.
   */
  const kindOf = (url: URL, first: URL): ServerKind => {
    if (url.host === first.host || configured.has(url.host)) return "configured";
    return options.allowPrivateRedirects === true ? "redirected" : "public";
  };

  return async ({ url: first, form: firstForm }, accept, signal, met) => {
    // The limit applies to the whole request: a server that sends a byte now and then would never exceed a limit on
    // pauses.
    const untilMs = clock.monotonicNow() + options.timeoutMs;
    let url = first;
    let form = firstForm;
    const send = async (own: Readonly<Record<string, string>>, authorization?: string): Promise<HttpAnswer> => {
      const cookie = await cookies?.headerFor(url);
      const headers = {
        ...own,
        ...(authorization === undefined ? {} : { authorization }),
        ...(cookie === undefined ? {} : { cookie }),
        ...(form === undefined ? {} : { "content-type": FORM_TYPE }),
      };
      const limits = { untilMs, limit: BODY_LIMIT, server: kindOf(url, first) };
      const answer = await client.request(
        url,
        form === undefined ? { method: "GET", headers, ...limits } : { method: "POST", headers, body: form, ...limits },
        signal,
      );
      // The answer to a challenge is a hash of the password, so it counts as a secret.
      if (authorization !== undefined) met.keys.push(...(/response="(\w+)"/.exec(authorization)?.slice(1) ?? []));
      if (cookie !== undefined) met.keys.push(...cookie.split("; ").map((pair) => pair.replace(/^[^=]*=/, "")));
      if (cookies !== undefined) met.keys.push(...(await cookies.keep(url, answer)));
      return answer;
    };
    for (let hop = 0; ; hop++) {
      // Only the first server gets the credentials, even if the redirect leads to another configured server.
      const isFirst = hop === 0 || url.origin === first.origin;
      const own = headersOf(isFirst, accept);
      const answer =
        credentials === undefined || !isFirst
          ? await send(own)
          : await credentials.authorize(url, form === undefined ? "GET" : "POST", (value) => send(own, value));
      const { status, body } = answer;
      const location = status >= 300 && status < 400 ? headerOf(answer, "location") : undefined;
      if (body === undefined) throw new SourceError("too_large", `the answer is larger than ${BODY_LIMIT} bytes`);
      if (location === undefined) {
        const contentType = headerOf(answer, "content-type") ?? "";
        const codings = headerOf(answer, "content-encoding");
        const decoded = codings === undefined ? body : await decodedBody(body, codings, BODY_LIMIT);
        const wait = headerOf(answer, "retry-after");
        const retryAfter = wait === undefined ? undefined : { ms: retryAfterMs(wait, clock.now()) };
        return { status, contentType, retryAfter, body: decoded };
      }
      if (hop === REDIRECTS) throw new SourceError("http_status", `status ${status}: redirected too often`);
      const address = withEscapes(location);
      const next = URL.canParse(address, url.href) ? new URL(address, url) : undefined;
      if (next?.protocol !== "http:" && next?.protocol !== "https:")
        throw new SourceError("http_status", `status ${status}: redirected to no address`);
      met.addresses.push(next);
      url = next;
      if (!KEEPING.has(status)) form = undefined;
    }
  };
}

/**
 * Returns a Location header with its octets beyond ASCII escaped. An address has only ASCII (RFC 3986, 2), but servers
 * send other octets. undici decodes headers as ISO-8859-1.
 */
const withEscapes = (location: string): string =>
  location.replace(/[\u0080-\u00ff]/g, (octet) => `%${octet.charCodeAt(0).toString(16).toUpperCase()}`);

/** Converts the failure of a request to a SourceError. */
function requestFailure(error: unknown, timeoutMs: number): SourceError {
  if (error instanceof TooLate)
    return new SourceError("timeout", `no whole answer in ${timeoutMs / 1000} seconds`, { cause: error });
  if (error instanceof MalformedAnswer) return new SourceError("reset", error.message, { cause: error });
  const failure = failureOf(error);
  // Until the head is complete, the answer has not begun.
  if (error instanceof BrokenAnswer && error.status !== undefined && failure.failure === "reset")
    return new SourceError("truncated", "the connection broke in the middle of the answer", { cause: error });
  return failure;
}

/**
 * Returns the possible keys in the value of a header: the whole value, and the part after a scheme such as `Bearer`.
 */
const secretsInHeader = (value: string): readonly string[] =>
  [value, ...(/^\w+ +(\S.*)$/.exec(value)?.slice(1) ?? [])].filter(isKey);

/**
 * Returns the headers of a request, without its credentials.
 * @param isConfigured whether the request goes to a configured server
 */
type HeadersOf = (isConfigured: boolean, accept: string) => Readonly<Record<string, string>>;

function headersFor({ headers = {} }: Omit<UpstreamOptions, "url">): HeadersOf {
  const plain = {
    "user-agent": `Nuthatch/${ownVersion()}`,
    // Without this header, any coding would be acceptable (RFC 9110, 12.5.3). Pictures are already compressed.
    "accept-encoding": "identity",
  };
  const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return (isConfigured, accept) => ({ ...plain, accept, ...(isConfigured ? own : {}), ...currentTrace() });
}

/** Returns the parts of the proxy's address, because a proxy's error page names the proxy. */
function proxySecrets(proxy: string | undefined): readonly string[] {
  const { http, https } = proxiesOfEnvironment();
  const addresses = proxy === undefined ? [http, https] : [proxy];
  return addresses.flatMap((address) => {
    if (address === undefined || !URL.canParse(address)) return [];
    const url = new URL(address);
    return [...secretsIn(url), querystring.unescape(url.username), querystring.unescape(url.password)];
  });
}

/** @throws SourceError when a file cannot be read */
function readTlsFiles({ ca, cert, key }: TlsOptions): TlsFiles {
  const read = (name: string, file: string | undefined): Record<string, string> => {
    if (file === undefined) return {};
    try {
      return { [name]: readFileSync(file, "utf8") };
    } catch (error) {
      throw new SourceError("refused", `the file of ${name} cannot be read (${codeOf(error)})`, { cause: error });
    }
  };
  return { ...read("ca", ca), ...read("cert", cert), ...read("key", key) };
}

function withoutSecrets(error: SourceError, hide: (text: string) => string): SourceError {
  const message = hide(error.message);
  if (message === error.message) return error;
  const { failure, retryAfterMs, isPermanent, cause } = error;
  return new SourceError(failure, message, {
    cause,
    isPermanent,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}
