import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import type { ServerOptions } from "../configuration/server-options.ts";
import { onceEach } from "../lib/once-each.ts";

/** The parts of a request as a trusted proxy reports them. A value that is not valid counts as not reported. */
export interface Forwarded {
  readonly scheme: "http" | "https" | undefined;
  /** The host, with the port where there is one. */
  readonly host: string | undefined;
  /** The path below which the proxy offers this server, such as `/maps`; "" if there is none. */
  readonly prefix: string;
  /** The address of the client; undefined: not reported. An obfuscated identifier (RFC 7239, 6.3) is one, too. */
  readonly client: string | undefined;
}

type Trust = ServerOptions["trustProxy"];

const NOTHING: Forwarded = { scheme: undefined, host: undefined, prefix: "", client: undefined };

/**
 * Reads the headers of the proxy before the server, if `server.trustProxy` trusts the connection. `Forwarded`
 * (RFC 7239) counts in a request without X-Forwarded-For, -Host and -Proto only: a proxy that writes one kind passes
 * the other one on as the client sent it.
 */
export function forwardedBy({ headers, socket }: IncomingMessage, trust: Trust): Forwarded {
  if (!trustsConnection(trust, socket.remoteAddress)) return NOTHING;
  const of = ["x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"].map((name) => headerOf(headers, name));
  const prefix = prefixOf(headerOf(headers, "x-forwarded-prefix"));
  if (of.every((value) => value === undefined)) return { ...standardFacts(headers.forwarded, trust), prefix };
  const [addresses, host, scheme] = of;
  return {
    scheme: schemeOf(scheme),
    host: hostOf(host),
    prefix,
    client: addresses === undefined ? undefined : nearestUntrusted(addresses.split(",").map(addressOf), trust),
  };
}

/** Returns the value of a header. Node joins the values of a repeated one with a comma. */
function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(",") : value;
}

// The patterns below accept one value each: a header with several does not say which of them the proxy has written.

const schemeOf = (value: string | undefined): Forwarded["scheme"] => {
  const scheme = value?.trim().toLowerCase();
  return scheme === "http" || scheme === "https" ? scheme : undefined;
};

/** Returns a host of RFC 3986 without percent-escapes, with a port or without. */
function hostOf(value: string | undefined): string | undefined {
  const host = value?.trim() ?? "";
  return host.length <= 260 && /^(?:\[[\da-f:.]+\]|[\w.-]+)(?::\d{1,5})?$/i.test(host) ? host : undefined;
}

const SEGMENT = /^(?:[\w.~-]|%[\da-f]{2})+$/i;

/** Returns a path of plain segments, without a slash at the end. `//host` would be a link to another server. */
function prefixOf(value: string | undefined): string {
  const [first, ...segments] = (value ?? "").trim().replace(/\/$/, "").split("/");
  const isPath = segments.every((segment) => SEGMENT.test(segment) && !/^(?:\.|%2e){1,2}$/i.test(segment));
  return first === "" && segments.length > 0 && isPath && segments.join("/").length < 500
    ? `/${segments.join("/")}`
    : "";
}

/** Returns an address without its port, or an obfuscated identifier; undefined for any other text. */
function addressOf(value: string): string | undefined {
  const [, inBrackets, ...others] =
    /^(?:\[([\da-f:.]+)\](?::\w+)?|([\d.]+)(?::\w+)?|([\da-f:.]+)|(_[\w.-]{1,100}))$/i.exec(value.trim()) ?? [];
  const address = inBrackets ?? others.find((one) => one !== undefined);
  return address !== undefined && (address.startsWith("_") || isIP(address) !== 0) ? address : undefined;
}

/** A parameter of a `Forwarded` element, or nothing, and the separator behind it (RFC 7239, 4). */
const PARAMETER =
  /[ \t]*(?:([!#$%&'*+.^_`|~\w-]+)=(?:([!#$%&'*+.^_`|~\w-]+)|"((?:[\t !#-[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*)")[ \t]*)?([;,]|$)/y;

type Element = ReadonlyMap<string, string>;

/** Parses a `Forwarded` header. Undefined: it is not valid, or an element has a parameter twice. */
export function parseForwarded(header: string): readonly Element[] | undefined {
  const elements: Element[] = [];
  let element = new Map<string, string>();
  PARAMETER.lastIndex = 0;
  for (;;) {
    const [found, name, token, quoted, separator] = PARAMETER.exec(header) ?? [];
    if (found === undefined) return undefined;
    const key = name?.toLowerCase();
    if (key !== undefined) {
      if (element.has(key)) return undefined;
      element.set(key, token ?? quoted?.replace(/\\(.)/g, "$1") ?? "");
    }
    if (separator === ";") continue;
    if (element.size > 0) elements.push(element);
    if (separator === "") return elements;
    element = new Map();
  }
}

/** Returns the facts of the element that the outermost trusted proxy has written: it knows the client. */
function standardFacts(header: string | undefined, trust: Trust): Omit<Forwarded, "prefix"> {
  const elements = (header === undefined ? undefined : parseForwarded(header)) ?? [];
  const clients = elements.map((element) => addressOf(element.get("for") ?? ""));
  const element = elements[outermost(clients, trust)];
  return {
    scheme: schemeOf(element?.get("proto")),
    host: hostOf(element?.get("host")),
    client: nearestUntrusted(clients, trust),
  };
}

/** Returns the index of the right-most address that is not a trusted proxy's, else of the left-most. */
function outermost(addresses: readonly (string | undefined)[], trust: Trust): number {
  const known = addresses.findLastIndex((address) => address === undefined || !isTrustedProxy(trust, address));
  return Math.max(0, known);
}

/** Returns the right-most address that is not a trusted proxy's. If that one is not valid, the proxy is the client. */
function nearestUntrusted(addresses: readonly (string | undefined)[], trust: Trust): string | undefined {
  const at = outermost(addresses, trust);
  return addresses[at] ?? addresses[at + 1];
}

const networksOf = onceEach((trusted: readonly string[]): BlockList => {
  const networks = new BlockList();
  for (const one of trusted) {
    const [address = "", length] = one.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    if (length === undefined) networks.addAddress(address, family);
    else networks.addSubnet(address, Number(length), family);
  }
  return networks;
});

const isListed = (trusted: readonly string[], address: string): boolean =>
  isIP(address) !== 0 && networksOf(trusted).check(address, isIP(address) === 6 ? "ipv6" : "ipv4");

const trustsConnection = (trust: Trust, remote: string | undefined): boolean =>
  typeof trust === "boolean" ? trust : remote !== undefined && isListed(trust, remote);

/** Returns whether an address that a trusted proxy reports is a trusted proxy, too. `true` trusts one proxy only. */
const isTrustedProxy = (trust: Trust, address: string): boolean =>
  typeof trust !== "boolean" && isListed(trust, address);
