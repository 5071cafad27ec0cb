import { type Content, isMap } from "../../../lib/is-map.ts";
import { PresentItems } from "../../../lib/present-items.ts";
import { badField, type FieldRefusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { fieldName } from "../../../lib/schema.ts";
import {
  addressOrigin,
  MASKED,
  masked,
  PresentAddresses,
  restoredAddress,
  secretPartAt,
  UNRESTORED,
} from "../../../lib/text/masked.ts";

/**
 * Replaces masked secrets of a content by the present secrets. Restores a secret only if it is still sent to the same
 * servers: the address beside it must have the present scheme, host and port.
 * @param present the present content with its secrets; undefined if the object is new
 */
export const withSecrets = (value: unknown, present: unknown): Result<unknown, FieldRefusal> =>
  filled(value, present, { path: [], isSameServer: true });

interface Place {
  readonly path: readonly (string | number)[];
  /** Whether the secrets here would go only to servers that have them already. */
  readonly isSameServer: boolean;
  /** The present addresses of the list that contains the text. */
  readonly addresses?: PresentAddresses;
}

function filled(value: unknown, present: unknown, place: Place): Result<unknown, FieldRefusal> {
  if (typeof value === "string") return filledText(value, present, place);
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    const addresses = new PresentAddresses(() => textsIn(present));
    const before = new PresentItems<unknown>(Array.isArray(present) ? present : [], value.length, (item) =>
      masked(item, [...place.path, 0]),
    );
    for (const [i, item] of value.entries()) {
      // An address may correspond to any of the present ones. Numbers and booleans are not secrets.
      const counter = typeof item === "object" && item !== null ? before.for(item, i) : present;
      const kept = filled(item, counter, { path: [...place.path, i], isSameServer: place.isSameServer, addresses });
      if (!kept.ok) return kept;
      items.push(kept.value);
    }
    return ok(items);
  }
  if (!isMap(value)) return ok(value);
  const before = isMap(present) ? present : undefined;
  // Keys of a map of secrets are not fields: a parameter `url` does not name a server.
  const areFields = secretPartAt(place.path) === undefined;
  const isSameServer = place.isSameServer && (!areFields || hasSameServers(value, before ?? {}));
  const members: [string, unknown][] = [];
  for (const [key, member] of Object.entries(value)) {
    const kept = filled(member, before?.[key], { path: [...place.path, key], isSameServer });
    if (!kept.ok) return kept;
    members.push([key, kept.value]);
  }
  return ok(Object.fromEntries(members));
}

function filledText(
  value: string,
  present: unknown,
  { path, isSameServer, addresses = new PresentAddresses(() => textsIn(present)) }: Place,
): Result<unknown, FieldRefusal> {
  const part = secretPartAt(path);
  if (part === undefined) return ok(value);
  const refused = (expected: string) => refuse(badField(fieldName(path), expected, value));
  if (part === "address") {
    const restored = restoredAddress(value, isSameServer || !value.includes("{") ? addresses : NO_ADDRESSES);
    return restored === undefined ? refused(UNRESTORED.address) : ok(restored);
  }
  if (value !== MASKED) return ok(value);
  if (present === undefined || present === null) return refused(UNRESTORED.none);
  return isSameServer ? ok(present) : refused(UNRESTORED.elsewhere);
}

const NO_ADDRESSES = new PresentAddresses(() => []);

const textsIn = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).filter((item) => typeof item === "string");

/** Returns whether the secrets of an object would go only to servers that the present object names too. */
function hasSameServers(value: Content, present: Content): boolean {
  const before = new Set(serversOf(present));
  return serversOf(value).every((server) => before.has(server));
}

/** Returns the servers that receive the secrets of a source, a feed or a store. */
function serversOf(value: Content): readonly string[] {
  const addresses = textsIn(value["url"]);
  // A bucket without an endpoint is in AWS.
  const endpoint = value["bucket"] === undefined ? [] : [value["endpoint"] ?? "aws"];
  const origins = [...addresses, ...textsIn(endpoint)].map((address) => addressOrigin(address) ?? address);
  const { proxy, subdomains } = value;
  // A proxy can read requests to a server without TLS.
  const isRead = addresses.some((address) => !/^https:/i.test(address));
  const proxies = isRead && typeof proxy === "string" && proxy !== "none" ? [`proxy ${addressOrigin(proxy)}`] : [];
  const parts = origins.some((origin) => origin.includes("{s}"))
    ? textsIn(subdomains).map((part) => `{s} ${part}`)
    : [];
  return [...origins, ...proxies, ...parts];
}

/**
 * Applies a merge patch (RFC 7396): null removes a member, an object is merged, any other value replaces the present
 * one.
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isMap(patch)) return patch;
  // A map, because the assignment to a key `__proto__` would not add the key.
  const merged = new Map<string, unknown>(isMap(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), value));
  }
  return Object.fromEntries(merged);
}
