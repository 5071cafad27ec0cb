/** What a line of an access log tells of a request. */
export interface AccessLine {
  readonly method: string;
  /** Raw, as it was asked, bytes beyond ASCII as Latin-1. */
  readonly target: string;
  readonly status: number;
}

/** Behind the time: `"GET /a HTTP/1.1" 200`; what stands before and behind differs from format to format. */
const REQUEST = /\] "([A-Z]{3,10}) (\S+)(?: HTTP\/\d(?:\.\d)?)?" (\d{3})(?: |$)/;
/** How nginx (`\x22`) and Apache (`\"`, `\\`, `\xc3`) write what would end the quotes, or is not ASCII. */
const ESCAPE = /\\(?:x([0-9A-Fa-f]{2})|(.))/g;

/**
 * A line of the common or combined format, of nginx and Apache, a host or more fields around it or not. Undefined: it is
 * none. There are packages for this; those that are kept up want the format said, and split all fields.
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
