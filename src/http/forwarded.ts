import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import type { ServerOptions } from "../configuration/fields/server-schema.ts";
import { onceEach } from "../lib/once-each.ts";

/** The facts of a request that a trusted proxy reports. An invalid value counts as not reported. */
export interface Forwarded {
  readonly scheme: "http" | "https" | undefined;
  /** The host, with its port if the proxy reports one. Undefined if it is not reported. */
  readonly host: string | undefined;
  /** The path at which the proxy serves this server, such as `/maps`. Empty if it is not reported. */
  readonly prefix: string;
  /** The address of the client, or an obfuscated identifier (RFC 7239, 6.3). Undefined if it is not reported. */
  readonly client: string | undefined;
}

type Trust = ServerOptions["trustProxy"];

const NOTHING: Forwarded = { scheme: undefined, host: undefined, prefix: "", client: undefined };

/**
 * Reads the headers of the proxy in front of the server, if `server.trustProxy` trusts the connection. `Forwarded` (RFC
 * 7239) is used only in a request without X-Forwarded-For, -Host and -Proto, because a proxy that writes one kind of
 * headers passes the other kind on as the client sent it.
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

/** Returns the value of a header. Node joins the values of a repeated header with commas. */
function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(",") : value;
}

// The patterns below accept one value, because with several values it is unknown which value the proxy has written.

const schemeOf = (value: string | undefined): Forwarded["scheme"] => {
  const scheme = value?.trim().toLowerCase();
  return scheme === "http" || scheme === "https" ? scheme : undefined;
};

/** Returns a host of RFC 3986 without percent-escapes, with or without port. Undefined for any other text. */
function hostOf(value: string | undefined): string | undefined {
  const host = value?.trim() ?? "";
  return host.length <= 260 && /^(?:\[[\da-f:.]+\]|[\w.-]+)(?::\d{1,5})?$/i.test(host) ? host : undefined;
}

const SEGMENT = /^(?:[\w.~-]|%[\da-f]{2})+$/i;

/**
 * Returns a path of plain segments without a trailing slash. Empty for any other text: `//host` would link to another
 * server.
 */
function prefixOf(value: string | undefined): string {
  const [first, ...segments] = (value ?? "").trim().replace(/\/$/, "").split("/");
  const isPath = segments.every((segment) => SEGMENT.test(segment) && !/^(?:\.|%2e){1,2}$/i.test(segment));
  return first === "" && segments.length > 0 && isPath && segments.join("/").length < 500
    ? `/${segments.join("/")}`
    : "";
}

/** Returns an address without its port, or an obfuscated identifier. Undefined for any other text. */
function addressOf(value: string): string | undefined {
  const [, inBrackets, ...others] =
    /^(?:\[([\da-f:.]+)\](?::\w+)?|([\d.]+)(?::\w+)?|([\da-f:.]+)|(_[\w.-]{1,100}))$/i.exec(value.trim()) ?? [];
  const address = inBrackets ?? others.find((one) => one !== undefined);
  return address !== undefined && (address.startsWith("_") || isIP(address) !== 0) ? address : undefined;
}

/** One parameter of a `Forwarded` element, or nothing, with the separator after it (RFC 7239, 4). */
const PARAMETER =
  /[ \t]*(?:([!#$%&'*+.^_`|~\w-]+)=(?:([!#$%&'*+.^_`|~\w-]+)|"((?:[\t !#-[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*)")[ \t]*)?([;,]|$)/y;

type Element = ReadonlyMap<string, string>;

/** Parses a `Forwarded` header. Undefined if it is invalid, or an element repeats a parameter. */
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

/** Returns the facts in the element of the outermost trusted proxy, which knows the client. */
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

/**
 * Returns the index of the right-most address that is not of a trusted proxy. If all are, the index of the left-most
 * address.
 */
function outermost(addresses: readonly (string | undefined)[], trust: Trust): number {
  const known = addresses.findLastIndex((address) => address === undefined || !isTrustedProxy(trust, address));
  return Math.max(0, known);
}

/** Returns the right-most address that is not of a trusted proxy. If it is invalid, the proxy counts as the client. */
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

/**
 * Returns whether an address that a trusted proxy reports is itself of a trusted proxy. `true` trusts only one proxy.
 */
const isTrustedProxy = (trust: Trust, address: string): boolean =>
  typeof trust !== "boolean" && isListed(trust, address);
