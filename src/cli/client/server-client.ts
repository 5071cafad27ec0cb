import { codeOf } from "../../lib/error-code.ts";
import { didYouMean } from "../../lib/text/nearest.ts";
import { trimEndOf } from "../../lib/text/trim-end.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { deadline } from "../../lib/time/deadline.ts";
import { CommandFailure, EXIT } from "../exit.ts";
import { type Credentials, findCredentials } from "./credentials.ts";
import { type ServerEvent, serverEvents } from "./server-events.ts";

/** Flags of commands that send requests to a running server. */
export interface ServerFlags {
  readonly url: string;
  readonly user?: string;
}

export interface ClientOptions {
  readonly clock: Clock;
  /** `none` sends no password, because the password may belong to another server. */
  readonly credentials?: "found" | "none";
  /** Aborts all requests. Absent if each request times out after a minute. */
  readonly signal?: AbortSignal;
}

type QueryValue = string | number | boolean | readonly string[] | undefined;

export interface RequestOptions {
  /** Omits undefined values. A list repeats its name. */
  readonly query?: Readonly<Record<string, QueryValue>>;
  /** The body of the request. It is sent as JSON. */
  readonly document?: object;
  /** The key with which the request may be repeated. */
  readonly idempotencyKey?: string;
}

/** Bytes that `fetch` can send. */
type Bytes = Uint8Array<ArrayBuffer>;

const TIMEOUT_MS = 60_000;

/** The server did not answer, because the address is wrong or the server is down. */
export class ServerUnreachable extends CommandFailure {
  override readonly name = "ServerUnreachable";
  /** Whether the server may have received the request and carried it out. */
  readonly mayHaveReceived: boolean;

  constructor(message: string, mayHaveReceived: boolean) {
    super(message, EXIT.failure);
    this.mayHaveReceived = mayHaveReceived;
  }
}

/** The server answered with an error status. */
export class ServerRefusal extends CommandFailure {
  override readonly name = "ServerRefusal";
  readonly status: number;
  /** The unchanged body of the answer. */
  readonly text: string;

  constructor(message: string, status: number, text: string) {
    super(message, EXIT.failure);
    this.status = status;
    this.text = text;
  }
}

/** Sends requests to a running server, with the user and password from the environment. */
export class ServerClient {
  readonly clock: Clock;
  readonly #base: string;
  readonly #credentials: Credentials | undefined;
  readonly #signal: AbortSignal | undefined;

  constructor({ url, user }: ServerFlags, { clock, credentials = "found", signal }: ClientOptions) {
    this.clock = clock;
    if (!URL.canParse(url)) throw new CommandFailure(`--url: expected an address, got ${url}`, EXIT.usage);
    const server = new URL(url);
    // The message omits the address, because the address may contain a password.
    if (server.username !== "" || server.password !== "")
      throw new CommandFailure(
        "--url: expected an address without a user: set NUTHATCH_USER and NUTHATCH_PASSWORD instead",
        EXIT.usage,
      );
    this.#base = trimEndOf(url, "/");
    this.#signal = signal;
    this.#credentials = credentials === "none" ? undefined : findCredentials(user);
  }

  /**
   * Sends one request and returns the body of a successful answer.
   * @throws ServerRefusal with the server's message; ServerUnreachable with the reason
   */
  async request(
    method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
    path: string,
    { query = {}, document, idempotencyKey }: RequestOptions = {},
  ): Promise<string> {
    const address = `${this.#base}${path}${queryText(query)}`;
    const headers = {
      ...this.#authorization(),
      ...(document === undefined ? {} : { "Content-Type": "application/json" }),
      ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
    };
    const body = document === undefined ? null : JSON.stringify(document);
    const signal = this.#signal ?? deadline(this.clock, TIMEOUT_MS);
    const exchange = async (): Promise<string> => {
      const response = await fetch(address, { method, headers, body, signal });
      const text = await response.text();
      if (!response.ok) throw await this.#refusal(address, response.status, text);
      return text;
    };
    return this.#reached(exchange());
  }

  /**
   * Sends bytes or a document, and returns the bytes of a successful answer. Each request times out after a minute.
   * @throws ServerRefusal and ServerUnreachable, as `request` does
   */
  async exchangeBytes(
    path: string,
    { query = {}, document, bytes }: Pick<RequestOptions, "query" | "document"> & { readonly bytes?: Bytes },
  ): Promise<Uint8Array> {
    const address = `${this.#base}${path}${queryText(query)}`;
    const headers = {
      ...this.#authorization(),
      "Content-Type": bytes === undefined ? "application/json" : "application/octet-stream",
    };
    const timeout = deadline(this.clock, TIMEOUT_MS);
    const signal = this.#signal === undefined ? timeout : AbortSignal.any([this.#signal, timeout]);
    const exchange = async (): Promise<Uint8Array> => {
      const body = bytes ?? JSON.stringify(document);
      const response = await fetch(address, { method: "POST", headers, body, signal });
      const answer = Buffer.from(await response.arrayBuffer());
      if (!response.ok) throw await this.#refusal(address, response.status, answer.toString("utf8"));
      return answer;
    };
    return this.#reached(exchange());
  }

  /**
   * Opens a stream of server-sent events that continues after the event with an id. The stream ends with the
   * connection.
   * @throws ServerRefusal and ServerUnreachable, as `request` does
   */
  async *events(
    path: string,
    { query = {}, lastEventId }: Pick<RequestOptions, "query"> & { readonly lastEventId: string | undefined },
  ): AsyncGenerator<ServerEvent, undefined> {
    const address = `${this.#base}${path}${queryText(query)}`;
    const headers = {
      ...this.#authorization(),
      Accept: "text/event-stream",
      ...(lastEventId === undefined ? {} : { "Last-Event-ID": lastEventId }),
    };
    const response = await this.#reached(fetch(address, { headers }));
    if (!response.ok || response.body === null)
      throw await this.#refusal(address, response.status, await response.text());
    const events = serverEvents(response.body);
    for (;;) {
      const next = await this.#reached(events.next());
      if (next.done === true) return undefined;
      yield next.value;
    }
  }

  /** Converts a failure of the connection to a ServerUnreachable. */
  #reached<T>(exchange: Promise<T>): Promise<T> {
    return exchange.catch((error: unknown) => {
      if (error instanceof ServerRefusal) throw error;
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      throw new ServerUnreachable(`${this.#base} cannot be reached: ${connectionFault(cause)}`, mayHaveReceived(cause));
    });
  }

  async #refusal(address: string, status: number, text: string): Promise<ServerRefusal> {
    const unknown = unknownLayerOf(text);
    const hint =
      status === 401 ? ` ${this.#credentialsText()}` : unknown === undefined ? "" : await this.#nearestLayer(unknown);
    // A problem document is from Nuthatch. Any other answer may be from another server, so the message names the
    // address.
    const place = isProblem(text) ? "" : `${address}: `;
    return new ServerRefusal(`${place}${status} ${messageOf(text)}${hint}`, status, text);
  }

  /**
   * Returns a hint with a similar layer name of the server. Empty if no name is similar, or the list cannot be read.
   */
  async #nearestLayer(name: string): Promise<string> {
    try {
      const { layers }: { readonly layers: readonly { readonly name: string }[] } = JSON.parse(
        await this.request("GET", "/api/v1/layers"),
      );
      return didYouMean(
        name,
        layers.map((layer) => layer.name),
      );
    } catch {
      // The message is complete without a suggestion.
      return "";
    }
  }

  #authorization(): { readonly Authorization?: string } {
    if (this.#credentials === undefined) return {};
    const { name, password } = this.#credentials;
    return { Authorization: `Basic ${Buffer.from(`${name}:${password}`, "utf8").toString("base64")}` };
  }

  #credentialsText(): string {
    if (this.#credentials === undefined) return "(the request had no password: set NUTHATCH_PASSWORD)";
    return `(sent as ${this.#credentials.name}, with the password of NUTHATCH_PASSWORD)`;
  }
}

function queryText(query: NonNullable<RequestOptions["query"]>): string {
  const parameters = new URLSearchParams();
  for (const [name, values] of Object.entries(query))
    for (const value of [values].flat()) if (value !== undefined) parameters.append(name, String(value));
  return parameters.size > 0 ? `?${parameters}` : "";
}

/** Returns the fault of a connection. For an address without a server, adds the remedy. */
function connectionFault(error: unknown): string {
  switch (codeOf(error)) {
    case "ECONNREFUSED":
      return "no program listens there; start the server, or name another address with --url or NUTHATCH_URL";
    case "ENOTFOUND":
      return "the name of the host is not known; name another address with --url or NUTHATCH_URL";
    default:
      return (error instanceof Error && error.message) || String(error);
  }
}

/** Codes of errors after the connection was established: it broke, or the response did not arrive in time. */
const BREAKS = ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET", "UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"];

function mayHaveReceived(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === "TimeoutError" || ("code" in error && BREAKS.some((code) => code === error.code));
}

/**
 * Returns the name of the unknown layer in a refusal. Undefined for any other refusal, and for a refusal that already
 * names the nearest layer in a second line, as under `/api/v1`.
 */
const unknownLayerOf = (text: string): string | undefined => /^Unknown layer: (.+)$/.exec(messageOf(text))?.[1];

const isProblem = (text: string): boolean => /^\s*\{"type":"about:blank",/.test(text);

/** Returns the `detail` of a problem document, or the first line of any other body. */
function messageOf(text: string): string {
  try {
    const problem: unknown = JSON.parse(text);
    if (typeof problem === "object" && problem !== null && "detail" in problem) return String(problem.detail);
  } catch {
    // The answer is not JSON. It may be from a proxy.
  }
  return text.split("\n")[0] ?? "";
}
