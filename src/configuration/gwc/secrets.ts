import { PresentItems } from "../../lib/present-items.ts";
import {
  addressOrigin,
  MASKED,
  maskedAddress,
  maskedPairs,
  PresentAddresses,
  restoredAddress,
  restoredPairs,
  secretPartAt,
  UNRESTORED,
} from "../../lib/text/masked.ts";
import {
  type DocumentNode,
  fieldOf,
  isMapNode,
  itemsIn,
  type MapNode,
  map,
  type NamedNode,
  textOf,
  withScalars,
} from "./document-node.ts";

/**
 * Who reads a document. `changer`: the user may change the object under `/rest` and reads all values back except
 * passwords and keys. `reader`: every secret is masked.
 */
export type DocumentReader = "changer" | "reader";

/** User names and parameters that a `changer` reads back. For a `reader` they are secrets. */
const READ_BACK: ReadonlySet<string> = new Set(["httpUsername", "proxyUsername", "identity", "vendorParameters"]);

/** Returns a document with `***` for each secret, at any depth. */
export const withoutSecrets = (node: MapNode, reader: DocumentReader): MapNode =>
  withScalars(node, (value, names) => {
    const secret = names.find((name) => secretPartAt([name]) !== undefined);
    if (secret === undefined || value === "" || (reader === "changer" && READ_BACK.has(secret))) return value;
    const part = secretPartAt([secret]);
    if (part === "value") return MASKED;
    if (typeof value === "object") return value;
    const text = String(value);
    if (part === "values") return maskedPairs(text);
    const address = maskedAddress(text);
    if (reader === "reader") return address;
    // A `changer` reads the query of an address back, but not the credentials before the host.
    const query = text.indexOf("?");
    return query < 0 ? address : address.slice(0, address.indexOf("?")) + text.slice(query);
  });

const nameOf = (name: string, item: string): string => (secretPartAt([name]) === undefined ? item : name);

/** Reports a masked secret without a present value: the path of the element, and the reason. */
export type MissingSecret = (path: string, expected: string) => void;

/**
 * Replaces each `***`, at any depth, by the secret at the same place of the present document. Restores a secret only if
 * it is still sent to the same servers: the addresses beside it must have the scheme, host and port of the present
 * ones.
 */
export function withSecrets(
  node: MapNode,
  present: MapNode | undefined,
  missing: MissingSecret,
  path = "",
  isAbove = true,
): MapNode {
  const isSameServer = isAbove && hasSameServers(node, present);
  const fields = node.fields.map(([name, value]): NamedNode => {
    const place = { at: path === "" ? name : `${path}.${name}`, isSameServer, missing };
    return [name, filled(name, value, present && fieldOf(present, name), place)];
  });
  return { ...node, fields };
}

interface Place {
  readonly at: string;
  readonly isSameServer: boolean;
  readonly missing: MissingSecret;
  /** The present addresses of the list that has the text. */
  readonly addresses?: PresentAddresses;
}

function filled(name: string, value: DocumentNode, before: DocumentNode | undefined, place: Place): DocumentNode {
  const { at, isSameServer, missing } = place;
  if (typeof value === "string") return filledText(name, value, before, place);
  if (typeof value !== "object" || value.kind === "double") return value;
  if (value.kind === "map")
    return withSecrets(value, isMapNode(before) ? before : undefined, missing, at, isSameServer);
  const items = value.kind === "list" ? value.items.map(([, item]) => item) : value.items;
  const present = new PresentItems(itemsIn(before), items.length, plainOf);
  const addresses = new PresentAddresses(() => textsIn(before));
  const all = items.map((item, i) => {
    const own = value.kind === "list" ? nameOf(name, value.items[i]?.[0] ?? name) : name;
    // An address may correspond to any of the present ones.
    const counter = typeof item === "string" ? before : present.for(item, i);
    return filled(own, item, counter, { ...place, at: `${at}[${i}]`, addresses });
  });
  return value.kind === "repeated"
    ? { ...value, items: all }
    : { ...value, items: value.items.map(([item, node], i): NamedNode => [item, all[i] ?? node]) };
}

function filledText(
  name: string,
  value: string,
  before: DocumentNode | undefined,
  { at, isSameServer, missing, addresses = new PresentAddresses(() => textsIn(before)) }: Place,
): DocumentNode {
  const part = secretPartAt([name]);
  if (part === undefined || !value.includes(MASKED)) return value;
  if (part === "value") {
    if (value !== MASKED) return value;
    if (before !== undefined && isSameServer) return before;
    missing(at, before === undefined ? UNRESTORED.none : UNRESTORED.elsewhere);
    return value;
  }
  if (part === "values") {
    const restored = restoredPairs(value, typeof before === "string" ? before : "");
    const isWhole = restored !== undefined && (isSameServer || restored === value);
    if (!isWhole) missing(at, restored === undefined ? UNRESTORED.none : UNRESTORED.elsewhere);
    return restored ?? value;
  }
  const restored = restoredAddress(value, addresses);
  if (restored === undefined) missing(at, UNRESTORED.address);
  return restored ?? value;
}

const textsIn = (node: DocumentNode | undefined): readonly string[] =>
  typeof node === "string" ? [node] : itemsIn(node).filter((item) => typeof item === "string");

/** The fields that name the servers to which the secrets of a document are sent. */
const SERVERS = ["wmsUrl", "feedUrl", "endpoint", "serviceURL", "endpointUrl", "accountName", "proxyHost", "proxyPort"];

/** Returns whether the secrets of a document would go only to servers that the present document names too. */
function hasSameServers(node: MapNode, present: MapNode | undefined): boolean {
  if (present === undefined) return true;
  const before = new Set(serversOf(present));
  return serversOf(node).every((server) => before.has(server));
}

function serversOf(node: MapNode): readonly string[] {
  const named = SERVERS.flatMap((name) =>
    textsIn(fieldOf(node, name)).map((text) => `${name} ${addressOrigin(text) ?? text}`),
  );
  // A bucket without an endpoint is in AWS.
  const aws = textOf(node, "bucket") !== undefined && !textOf(node, "endpoint") ? ["aws"] : [];
  // A proxy can read requests to a server without TLS.
  const isRead = textsIn(fieldOf(node, "wmsUrl")).some((address) => !/^https:/i.test(address));
  const proxy = isRead ? textOf(node, "proxyUrl") : undefined;
  return [...named, ...aws, ...(proxy ? [`proxy ${addressOrigin(proxy) ?? proxy}`] : [])];
}

/** Returns a node without its secrets, to compare nodes whose secrets are masked. */
const plainOf = (node: DocumentNode): DocumentNode => {
  if (!isMapNode(node)) return node;
  const { fields, attributes } = withoutSecrets(node, "reader");
  return map(
    fields.filter(([name]) => secretPartAt([name]) !== "value"),
    attributes,
  );
};
