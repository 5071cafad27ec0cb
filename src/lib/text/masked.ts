import { firstBy } from "../first-by.ts";

/** The text that replaces a secret in every output. */
export const MASKED = "***";

/** What is expected in place of a masked secret that cannot be restored, by the reason. */
export const UNRESTORED = {
  none: "the secret instead of ***, because none is stored",
  elsewhere: "the secret instead of ***, because it would be sent to another server than before",
  address: "the secrets of the address instead of ***, because none are stored for this scheme, host and port",
} as const;

/**
 * The secret part of a field's value. `value`: the whole value. `values`: the values of a map of parameters (or of
 * `KEY=VALUE&…`). `address`: the user of an address and the values of its query. `origin`: everything but scheme, host
 * and port of an address.
 */
export type SecretPart = "value" | "values" | "address" | "origin";

/**
 * The fields with secrets, by name, at any depth, of the configuration file, of `/api/v1` and of GeoWebCache's
 * documents. Every output masks the fields of this table.
 */
const SECRET_FIELDS: ReadonlyMap<string, SecretPart> = new Map([
  ...(
    [
      ...["password", "passwordHash", "username", "secret", "accessKeyId", "secretAccessKey", "sessionToken"],
      ...["httpUsername", "httpPassword", "proxyUsername", "proxyPassword"],
      ...["awsAccessKey", "awsSecretKey", "accountKey", "identity", "apiKey", "apiToken"],
    ] as const
  ).map((name): [string, SecretPart] => [name, "value"]),
  ["vendorParameters", "values"],
  ["headers", "values"],
  ...["proxy", "proxyUrl", "wmsUrl", "feedUrl", "serviceURL", "endpoint", "endpointUrl"].map(
    (name): [string, SecretPart] => [name, "address"],
  ),
]);

/** The parents of a `url` field with a secret. Other addresses, such as the address of a legend, are public. */
const SECRET_URLS: ReadonlyMap<string, SecretPart> = new Map([
  ["source", "address"],
  ["updateSources", "address"],
  ["webhooks", "origin"],
  ["purge", "origin"],
  ["state", "origin"],
]);

/** Matches the names of further fields whose values are secrets. */
const SECRET_NAME = /passw|pwd|secret|credential|api_?key/i;

/** Flags that match `SECRET_NAME` but are not secret. */
const FLAGS: ReadonlySet<string> = new Set(["useDefaultCredentialsChain"]);

/** The names of all fields with secrets. */
export const secretFieldNames: readonly string[] = [...SECRET_FIELDS.keys()];

type Path = readonly PropertyKey[];

interface Secret {
  readonly part: SecretPart;
  /**
   * Whether the path ends at the field with the secret, or at an item of its list. False for a path below the field.
   */
  readonly isField: boolean;
}

/**
 * Returns the secret at a path. The outermost field with a secret decides. Keys below it, such as the names of headers,
 * are chosen by users and are not field names. Undefined if the path leads to no secret.
 */
function secretAt(path: Path): Secret | undefined {
  const names = path.filter((key) => typeof key === "string");
  for (const [i, name] of names.entries()) {
    const part =
      SECRET_FIELDS.get(name) ??
      (name === "url" ? SECRET_URLS.get(names[i - 1] ?? "") : undefined) ??
      (SECRET_NAME.test(name) && !FLAGS.has(name) ? "value" : undefined);
    if (part !== undefined) return { part, isField: i === names.length - 1 };
  }
  return undefined;
}

/**
 * Returns the secret part of the value at a path. Undefined if the value has no secret. The path may begin below the
 * root of a document.
 */
export const secretPartAt = (path: Path): SecretPart | undefined => secretAt(path)?.part;

/**
 * Scheme, slashes and authority of an address, as Node parses them: a backslash counts as a slash, and `http:` needs no
 * slashes. A text without a scheme begins with the authority.
 */
const AUTHORITY = /^((?:https?:[\\/]*|[a-z][a-z\d+.-]*:[\\/]+)?)([^\\/?#]*)/i;

/** Returns an address with its user and the values of its query masked, because a value may be a key. */
export const maskedAddress = (address: string): string =>
  withMaskedQuery(
    asNodeReads(address).replace(AUTHORITY, (_, scheme: string, authority: string) => scheme + maskedUser(authority)),
  );

/** Returns an address without the characters that Node ignores. */
const asNodeReads = (address: string): string => address.replace(/[\t\n\r]/g, "").trim();

const maskedUser = (authority: string): string => authority.replace(/^.*@/s, `${MASKED}@`);

/** A placeholder such as `{z}`, which each request replaces. A placeholder is not a key. */
const PLACEHOLDER = /^\$?\{[\w-]+\}$/;

/** Returns an address with the values of its query masked. */
function withMaskedQuery(address: string): string {
  const at = address.indexOf("?");
  return at < 0 ? address : address.slice(0, at + 1) + maskedPairs(address.slice(at + 1));
}

/** Returns `KEY=VALUE&…` with the values masked. */
export const maskedPairs = (pairs: string): string =>
  pairs
    .split("&")
    .map((pair) => {
      const [key, value] = splitPair(pair);
      return value === "" || PLACEHOLDER.test(value) ? pair : `${key}=${MASKED}`;
    })
    .join("&");

function splitPair(pair: string): readonly [key: string, value: string] {
  const equals = pair.indexOf("=");
  return equals < 0 ? [pair, ""] : [pair.slice(0, equals), pair.slice(equals + 1)];
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { "http:": ":80", "https:": ":443" };

/**
 * Returns scheme, host and port of an address, which may contain placeholders. Undefined if the address has no host.
 */
export function addressOrigin(address: string): string | undefined {
  const [, scheme = "", authority = ""] = AUTHORITY.exec(asNodeReads(address)) ?? [];
  if (scheme === "" || authority === "") return undefined;
  const plain = scheme.slice(0, scheme.indexOf(":") + 1).toLowerCase();
  const host = authority.replace(/^.*@/s, "").toLowerCase();
  const port = DEFAULT_PORTS[plain];
  return `${plain}//${port !== undefined && host.endsWith(port) ? host.slice(0, -port.length) : host}`;
}

/** Returns whether a text contains a mask in a place where an address or a list of pairs can have one. */
const hasMask = (text: string): boolean => text.includes(`${MASKED}@`) || /=\*\*\*(?:&|$)/.test(text);

/** The present addresses, from which masked parts of new addresses are restored. */
export class PresentAddresses {
  readonly #addresses: () => readonly string[];
  #byShown: ReadonlyMap<string, string> | undefined;
  #byOrigin: ReadonlyMap<string | undefined, string> | undefined;

  /** @param addresses is called for the first address with a mask */
  constructor(addresses: () => readonly string[]) {
    this.#addresses = addresses;
  }

  /**
   * Returns the present address that is equal when masked, else one with the same scheme, host and port. Undefined if
   * no present address matches.
   */
  for(address: string): string | undefined {
    this.#byShown ??= firstBy(this.#addresses(), maskedAddress);
    const same = this.#byShown.get(address);
    if (same !== undefined) return same;
    const origin = addressOrigin(address);
    this.#byOrigin ??= firstBy(this.#addresses(), addressOrigin);
    return origin === undefined ? undefined : this.#byOrigin.get(origin);
  }
}

/**
 * Returns an address with its masked parts restored from a present address: from an address that is equal when masked,
 * else from an address with the same scheme, host and port. Undefined if no present address has the parts.
 */
export function restoredAddress(address: string, present: PresentAddresses): string | undefined {
  if (!hasMask(address)) return address;
  const before = present.for(address);
  if (before === undefined) return undefined;
  const user = AUTHORITY.exec(before)?.[2]?.match(/^.*@/s)?.[0];
  if (address.includes(`${MASKED}@`) && user === undefined) return undefined;
  const withUser = address.replace(AUTHORITY, (_, scheme: string, authority: string) =>
    authority.startsWith(`${MASKED}@`)
      ? scheme + (user ?? "") + authority.slice(MASKED.length + 1)
      : scheme + authority,
  );
  const at = withUser.indexOf("?");
  if (at < 0) return withUser;
  const pairs = restoredPairs(withUser.slice(at + 1), before.slice(before.indexOf("?") + 1));
  return pairs === undefined ? undefined : withUser.slice(0, at + 1) + pairs;
}

/**
 * Returns `KEY=VALUE&…` with the masked values restored from the present pairs. Undefined if the present pairs lack a
 * key.
 */
export function restoredPairs(pairs: string, present: string): string | undefined {
  const before = new Map<string, string[]>();
  for (const [key, value] of present.split("&").map(splitPair).reverse()) {
    const values = before.get(key);
    if (values === undefined) before.set(key, [value]);
    else values.push(value);
  }
  const restored = pairs.split("&").map((pair) => {
    const [key, value] = splitPair(pair);
    if (value !== MASKED) return pair;
    // Values of a repeated key are restored in their order.
    const one = before.get(key)?.pop();
    return one === undefined ? undefined : `${key}=${one}`;
  });
  return restored.every((pair) => pair !== undefined) ? restored.join("&") : undefined;
}

/** Returns a value with its secrets masked. `path` leads to the value from an object of the configuration. */
export function masked<T>(value: T, path?: Path): T;
export function masked(value: unknown, path: Path = []): unknown {
  if (value === undefined || value === null) return value;
  const secret = secretAt(path);
  if (Array.isArray(value)) return value.map((item, i) => masked(item, [...path, i]));
  if (typeof value === "object")
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, masked(member, [...path, key])]));
  if (secret === undefined || value === "") return value;
  const text = String(value);
  switch (secret.part) {
    case "value":
      return MASKED;
    case "values":
      // A text `KEY=VALUE&…`, or one value of a map.
      return secret.isField ? maskedPairs(text) : MASKED;
    case "address":
      return maskedAddress(text);
    case "origin":
      return `${addressOrigin(text) ?? ""}/${MASKED}`;
  }
}
