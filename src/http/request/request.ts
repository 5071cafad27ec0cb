import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { ServerOptions } from "../../configuration/fields/server-schema.ts";
import { type TraceContext, traceIdOf } from "../../lib/http/trace-context.ts";
import { WORKSPACE_SEGMENT } from "../../lib/http/workspace-segment.ts";
import type { Random } from "../../lib/random/random.ts";
import type { Refusal } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { forwardedBy } from "./forwarded.ts";
import { decodePercent } from "./percent.ts";

/** The path and query of a request, both raw. The path includes the mount. */
export interface Address {
  /** Begins with "/". */
  readonly path: string;
  /** Without "?". */
  readonly query: string;
}

/** A request's address without its mount. */
export interface Target extends Address {
  /** "" for the mount "/", otherwise for example "/geowebcache". */
  readonly mount: string;
  /** The workspace that the mount names. Absent below other mounts. */
  readonly workspace?: string;
}

/** The longest body of the management interface, in bytes. */
export const BODY_LIMIT = 1024 * 1024;

/**
 * Splits a request target (RFC 9112, 3.2) in origin form or absolute form into path and query. The path begins with
 * `/`. Undefined if the target begins neither with `/` nor with `http://` or `https://`.
 */
export function splitTarget(target: string): Address | undefined {
  const absolute = /^https?:\/\/[^/?#]*/i.exec(target);
  if (absolute === null && !target.startsWith("/")) return undefined;
  const rest = absolute === null ? target : target.slice(absolute[0].length);
  const hash = rest.indexOf("#");
  const whole = hash < 0 ? rest : rest.slice(0, hash);
  const question = whole.indexOf("?");
  const path = question < 0 ? whole : whole.slice(0, question);
  return { path: path === "" ? "/" : path, query: question < 0 ? "" : whole.slice(question + 1) };
}

/**
 * Removes the longest matching mount. Undefined if the path is under no mount. `mounts` must be sorted by length, the
 * longest first.
 */
export function underMount(path: string, query: string, mounts: readonly string[]): Target | undefined {
  for (const mount of mounts) {
    if (mount === "/") return { mount: "", path, query };
    const at = mount.indexOf(WORKSPACE_SEGMENT);
    if (at >= 0) {
      const target = underWorkspace(path, query, mount.slice(0, at), mount.slice(at + WORKSPACE_SEGMENT.length));
      if (target !== undefined) return target;
      continue;
    }
    const length = lengthOfMount(path, mount);
    if (length === undefined) continue;
    return { mount, path: pathAfter(path, length), query };
  }
  return undefined;
}

const pathAfter = (path: string, length: number): string => (length === path.length ? "/" : path.slice(length));

/** Removes a mount that names a workspace between `before` and `after`. */
function underWorkspace(path: string, query: string, before: string, after: string): Target | undefined {
  if (!path.startsWith(before)) return undefined;
  const slash = path.indexOf("/", before.length);
  const end = slash + after.length;
  if (slash < 0 || !path.startsWith(after, slash) || (end < path.length && path[end] !== "/")) return undefined;
  const workspace = decodePercent(path.slice(before.length, slash));
  if (workspace === undefined || workspace === "") return undefined;
  return { mount: path.slice(0, end), path: pathAfter(path, end), query, workspace };
}

/** Returns how many characters of a raw path are the mount. Undefined if the path is not under the mount. */
function lengthOfMount(path: string, mount: string): number | undefined {
  if (path === mount || path.startsWith(`${mount}/`)) return mount.length;
  // The end of as many segments as the mount has. Does not split the path, because every hit runs this code.
  let end = 0;
  for (let slash = 0; slash >= 0; slash = mount.indexOf("/", slash + 1)) {
    end = path.indexOf("/", end + 1);
    if (end < 0) end = path.length;
  }
  const encoded = path.indexOf("%");
  return encoded >= 0 && encoded < end && decodePercent(path.slice(0, end)) === mount ? end : undefined;
}

/** The address of this server in the view of the client. */
export interface OwnAddress {
  /** Scheme, host and port, such as `http://host:8080`. */
  readonly origin: string;
  /** The path before the mounts that a proxy has removed. Empty without such a proxy. */
  readonly prefix: string;
}

/**
 * Returns the address of this server as the client addressed it: as the trusted proxy reports it, else as the request
 * names it. If the client named no valid host, returns the address of the socket.
 */
export function ownAddress(request: IncomingMessage, { trustProxy }: Pick<ServerOptions, "trustProxy">): OwnAddress {
  const forwarded = forwardedBy(request, trustProxy);
  // The host of an absolute request target overrides Host (RFC 9112, 3.2.2).
  const absolute = /^https?:\/\/([^/?#]+)/i.exec(request.url ?? "")?.[1];
  const host = forwarded.host ?? absolute ?? request.headers.host ?? "";
  const clean = /^[\w.:[\]-]+$/.test(host) ? host : socketHost(request.socket);
  return { origin: `${forwarded.scheme ?? "http"}://${clean}`, prefix: forwarded.prefix };
}

/** Returns the local address of the connection. The configured port may be 0, so it is not used. */
function socketHost({ localAddress = "localhost", localPort = 80 }: Socket): string {
  const address = localAddress.replace(/^::ffff:/, "");
  return `${address.includes(":") ? `[${address}]` : address}:${localPort}`;
}

/**
 * Returns the client's address for limits by client and for the log. Behind trusted proxies this is the right-most
 * address that they report and that is not of a trusted proxy: clients can invent addresses further left.
 */
export const clientAddress = (request: IncomingMessage, { trustProxy }: Pick<ServerOptions, "trustProxy">): string =>
  forwardedBy(request, trustProxy).client ?? request.socket.remoteAddress ?? "";

/**
 * Reads the whole body. Refuses a body with more than `limit` bytes.
 * @throws ClientGone if the client disconnects
 */
export async function readBody(request: IncomingMessage, limit = BODY_LIMIT): Promise<Result<Uint8Array, Refusal>> {
  const tooLarge: Refusal = { code: "too_large", message: `The body is larger than ${limit} bytes.` };
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== "identity") {
    return refuse({
      code: "malformed",
      message: `Content-Encoding: expected identity, got ${JSON.stringify(encoding.slice(0, 100))}`,
    });
  }
  if (Number(request.headers["content-length"] ?? 0) > limit) return refuse(tooLarge);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const collect = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else {
        request.off("data", collect);
        resolve(refuse(tooLarge));
      }
    };
    request.on("data", collect);
    request.on("end", () => resolve(ok(Buffer.concat(chunks))));
    request.on("error", reject);
    request.on("close", () => reject(new ClientGone()));
  });
}

/** The client disconnected before its request was complete, so no response is sent. */
export class ClientGone extends Error {
  override readonly name = "ClientGone";
}

/** Returns the types in an Accept header, by weight and then by order (RFC 9110, 12.5.1). */
export function acceptedTypes(accept: string | undefined): readonly string[] {
  return (accept ?? "")
    .split(",")
    .map((range) => {
      const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
      const weight = parameters.find((p) => p.startsWith("q="));
      return { type, q: weight === undefined ? 1 : Number(weight.slice(2)) || 0 };
    })
    .filter(({ q }) => q > 0)
    .sort((a, b) => b.q - a.q)
    .map(({ type }) => type);
}

/** Returns whether an Accept header prefers XML to JSON. */
export function prefersXml(accept: string | undefined): boolean {
  const types = acceptedTypes(accept);
  const xml = types.findIndex((type) => /^(application|text)\/xml$|\+xml$/.test(type));
  const json = types.findIndex((type) => /\/json$|\+json$/.test(type));
  return xml >= 0 && (json < 0 || xml < json);
}

/** Returns whether an Accept header prefers an HTML page to JSON. A wildcard alone does not. */
export function prefersHtml(accept: string | undefined): boolean {
  const types = acceptedTypes(accept);
  const html = types.findIndex((type) => type === "text/html" || type === "application/xhtml+xml");
  const json = types.findIndex((type) => /^(application\/(.*json|\*)|\*\/\*)$/.test(type));
  return html >= 0 && (json < 0 || html < json);
}

export const ID_HEADER = "X-Request-Id";

/**
 * Returns the id of a request for logs and for its response: the `X-Request-Id` of the client or its proxy, else its
 * trace id, else a new id.
 */
export function requestIdOf(
  headers: IncomingHttpHeaders,
  trace: TraceContext | undefined,
  random: Pick<Random, "uuid">,
): string {
  const given = headers["x-request-id"];
  if (typeof given === "string" && /^[\x21-\x7e]{1,128}$/.test(given)) return given;
  return trace === undefined ? random.uuid() : traceIdOf(trace);
}
