import { codeOf } from "../error-code.ts";

/** The answer was not complete in time. */
export class TooLate extends Error {
  /** The status of the incomplete answer. Undefined if its head was incomplete. */
  readonly status: number | undefined;

  constructor(status: number | undefined) {
    super("there was no whole answer in time");
    this.status = status;
  }
}

/** The answer violates HTTP/1.1 (RFC 9112). */
export class MalformedAnswer extends Error {
  readonly code = "EPROTO";

  /** `reason`: the parser's message, without any part of the answer. */
  constructor(reason: string) {
    super(`the answer violates HTTP/1.1 (${reason})`);
  }
}

/** The connection broke within an answer, or before it. */
export class BrokenAnswer extends Error {
  readonly code: string;
  /** The status of the incomplete answer. Undefined if the connection broke within the head or before it. */
  readonly status: number | undefined;

  constructor(cause: unknown, status: number | undefined) {
    super("the connection broke", { cause });
    // undici reports a connection that the server closes with its own codes (UND_ERR_…).
    this.code = /^(?:UND_ERR_.*)?$/.test(codeOf(cause)) ? "ECONNRESET" : codeOf(cause);
    this.status = status;
  }
}

/**
 * A persistent connection broke before the answer began. The server may have closed it while the request was on its
 * way.
 */
export class ClosedBefore extends BrokenAnswer {
  constructor(cause: unknown) {
    super(cause, undefined);
  }
}

/** The proxy did not forward the request. */
export class ProxyRefusal extends Error {
  readonly code = "EPROXY";
  /** The status with which the proxy refused. */
  readonly status: number;

  constructor(status: number, cause: unknown) {
    super(`the proxy refused to connect (status ${status})`, { cause });
    this.status = status;
  }
}

/** The host must be a public one, but a proxy would look up its name, so its address cannot be checked. */
export class UncheckedHost extends Error {
  readonly code = "EUNCHECKED";

  constructor() {
    super("the address of the host cannot be checked, because a proxy would look it up");
  }
}

const CLOSED: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);
/** The messages of undici's `ProxyAgent`, whose errors have no code. */
const PROXY_STATUS = /^Proxy (?:response|Authentication Required) \((\d{3})\)/;
/** llhttp's message for a connection that ends in the middle of an answer. */
const CUT_OFF = "Invalid EOF state";
/** The messages of undici's `SocketError` for answers that no request expects. */
const UNEXPECTED: ReadonlySet<string> = new Set(["bad upgrade", "bad response"]);

/**
 * Translates an error of undici.
 * @param status the status of the answer, if its head has arrived
 * @param isReused whether the connection has carried an answer before
 */
export function httpFailure(error: Error, status: number | undefined, isReused: boolean): Error {
  const code = codeOf(error);
  const refused = PROXY_STATUS.exec(error.message)?.[1];
  if (refused !== undefined) return new ProxyRefusal(Number(refused), error);
  if (UNEXPECTED.has(error.message)) return new MalformedAnswer(error.message);
  if (code === "UND_ERR_HEADERS_OVERFLOW") return new MalformedAnswer("the head is too long");
  if (code === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH" && status === undefined)
    return new MalformedAnswer("Invalid Content-Length");
  // The errors of the parser have no code.
  const reason = error.name === "HTTPParserError" ? /\(([^()]*)\)$/.exec(error.message)?.[1] : undefined;
  if (reason !== undefined && reason !== CUT_OFF) return new MalformedAnswer(reason);
  if (reason === undefined && status === undefined && isReused && CLOSED.has(code)) return new ClosedBefore(error);
  if (reason === CUT_OFF || status !== undefined || code === "UND_ERR_SOCKET") return new BrokenAnswer(error, status);
  return error;
}
