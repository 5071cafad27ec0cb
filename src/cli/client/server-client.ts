import type { Command } from "commander";
import { trimEndOf } from "../../lib/trim-end.ts";
import { CommandFailure, EXIT } from "../exit.ts";
import { type Credentials, findCredentials } from "./credentials.ts";

/** Flags of every command that sends requests to a running server. */
export interface ServerFlags {
  readonly url: string;
  readonly user?: string;
}

export interface ClientOptions {
  /** `none`: send no password, because the password may belong to another server. */
  readonly credentials?: "found" | "none";
  /** Aborts all requests. Absent: each request times out after a minute. */
  readonly signal?: AbortSignal;
}

type QueryValue = string | number | boolean | readonly string[] | undefined;

export interface RequestOptions {
  /** An undefined value is left out. A list repeats its name. */
  readonly query?: Readonly<Record<string, QueryValue>>;
  /** Sent as JSON. */
  readonly document?: object;
  /** The request may be repeated with the same key. */
  readonly idempotencyKey?: string;
}

const DEFAULT_URL = "http://127.0.0.1:8080";
const TIMEOUT_MS = 60_000;

export const addServerFlags = (command: Command): Command =>
  command
    .option("--url <url>", "the server, with its mount (NUTHATCH_URL)", process.env["NUTHATCH_URL"] || DEFAULT_URL)
    .option("--user <name>", "whose password is in NUTHATCH_PASSWORD, or in a netrc file (NUTHATCH_USER)");

/** The server did not answer: the address is wrong, or the server is down. */
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
  /** The body of the answer, unchanged. */
  readonly text: string;

  constructor(message: string, status: number, text: string) {
    super(message, EXIT.failure);
    this.status = status;
    this.text = text;
  }
}

/** Sends requests to a running server, with the user and password from the environment or a netrc file. */
export class ServerClient {
  readonly #base: string;
  readonly #credentials: Credentials | undefined;
  readonly #signal: AbortSignal | undefined;

  constructor({ url, user }: ServerFlags, { credentials = "found", signal }: ClientOptions = {}) {
    if (!URL.canParse(url)) throw new CommandFailure(`--url: expected an address, got ${url}`, EXIT.usage);
    const server = new URL(url);
    // The message leaves the address out, because the address may contain a password.
    if (server.username !== "" || server.password !== "")
      throw new CommandFailure(
        "--url: expected an address without a user in it: NUTHATCH_USER and NUTHATCH_PASSWORD, or a netrc file, have one",
        EXIT.usage,
      );
    this.#base = trimEndOf(url, "/");
    this.#signal = signal;
    this.#credentials = credentials === "none" ? undefined : findCredentials(server, user);
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
    const answer = await this.#fetch(address, { method, headers, body }).catch((error: unknown) => {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : undefined;
      throw new ServerUnreachable(
        `${this.#base} cannot be asked: ${cause?.message || String(cause ?? error)}`,
        mayHaveReceived(cause ?? error),
      );
    });
    if (answer.ok) return answer.text;
    const message = `${address}: ${answer.status} ${messageOf(answer.text)}`;
    throw new ServerRefusal(
      answer.status === 401 ? `${message} ${this.#credentialsText()}` : message,
      answer.status,
      answer.text,
    );
  }

  #authorization(): { readonly Authorization?: string } {
    if (this.#credentials === undefined) return {};
    const { name, password } = this.#credentials;
    return { Authorization: `Basic ${Buffer.from(`${name}:${password}`, "utf8").toString("base64")}` };
  }

  #credentialsText(): string {
    if (this.#credentials === undefined) return "(asked without a password: NUTHATCH_PASSWORD or a netrc file has one)";
    return `(asked as ${this.#credentials.name}, with the password of ${this.#credentials.from})`;
  }

  async #fetch(address: string, init: RequestInit): Promise<{ ok: boolean; status: number; text: string }> {
    const response = await fetch(address, { ...init, signal: this.#signal ?? AbortSignal.timeout(TIMEOUT_MS) });
    return { ok: response.ok, status: response.status, text: await response.text() };
  }
}

function queryText(query: NonNullable<RequestOptions["query"]>): string {
  const parameters = new URLSearchParams();
  for (const [name, values] of Object.entries(query))
    for (const value of [values].flat()) if (value !== undefined) parameters.append(name, String(value));
  return parameters.size > 0 ? `?${parameters}` : "";
}

/** Codes of errors after the connection was established: it broke, or the answer did not come in time. */
const BREAKS = ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET", "UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"];

function mayHaveReceived(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === "TimeoutError" || ("code" in error && BREAKS.some((code) => code === error.code));
}

/** Returns the `detail` of a problem document, else the first line of the body. */
function messageOf(text: string): string {
  try {
    const problem: unknown = JSON.parse(text);
    if (typeof problem === "object" && problem !== null && "detail" in problem) return String(problem.detail);
  } catch {
    // Not JSON: the answer may come from a proxy.
  }
  return text.split("\n")[0] ?? "";
}
