/** A request in an access log. */
export interface AccessLine {
  readonly method: string;
  /** The request target, still percent-encoded. Bytes beyond ASCII are read as Latin-1. */
  readonly target: string;
  readonly status: number;
}

/** Matches the request after the time: `"GET /a HTTP/1.1" 200`. Formats differ in the fields around it. */
const REQUEST = /\] "([A-Z]{3,10}) (\S+)(?: HTTP\/\d(?:\.\d)?)?" (\d{3})(?: |$)/;
/** Escapes of quotes, backslashes and bytes beyond ASCII in nginx (`\x22`) and Apache (`\"`, `\\`, `\xc3`). */
const ESCAPE = /\\(?:x([0-9A-Fa-f]{2})|(.))/g;

/**
 * Parses a line of the common or combined log format of nginx or Apache, with or without additional fields. Undefined
 * for any other line. The maintained packages for this need the format as input, and split all fields.
 */
export function parseAccessLine(line: string): AccessLine | undefined {
  const [, method, target, status] = REQUEST.exec(line) ?? [];
  if (method === undefined || target === undefined || status === undefined) return undefined;
  const plain = target.includes("\\")
    ? target.replace(ESCAPE, (_, hex: string | undefined, other: string | undefined) =>
        hex === undefined ? (other ?? "") : String.fromCharCode(Number.parseInt(hex, 16)),
      )
    : target;
  return { method, target: plain, status: Number(status) };
}
