/** The most characters of a header's value. Servers refuse longer values. */
export const LONGEST_HEADER = 8192;

/** The headers that belong to a connection, or that Nuthatch sets itself, in lower case. */
const MANAGED_HEADERS: ReadonlySet<string> = new Set([
  ...["connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "expect"],
  ...["proxy-authenticate", "proxy-authorization", "host", "content-length", "content-type", "content-encoding"],
  ...["accept-encoding", "range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since"],
  ...["traceparent", "tracestate"],
]);

/** Returns why a source cannot send a configured header of this name. Undefined if it can. */
export function unfitHeader(name: string): string | undefined {
  if (!/^[\w!#$%&'*+.^`|~-]{1,200}$/.test(name))
    return "expected the name of a header: letters, digits and !#$%&'*+-.^_`|~";
  return MANAGED_HEADERS.has(name.toLowerCase()) ? "is a header that Nuthatch sets itself" : undefined;
}

/** Returns whether a text can be the value of a header (RFC 9110, 5.5). Only ASCII is allowed. */
export const isHeaderValue = (value: string): boolean =>
  value.length <= LONGEST_HEADER && /^(?:[!-~](?:[ \t!-~]*[!-~])?)?$/.test(value);
