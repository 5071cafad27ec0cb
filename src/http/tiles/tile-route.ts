import type { Catalogue } from "../../layer/catalogue.ts";
import { type Refusal, shown } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { segmentsOf } from "../request/percent.ts";
import { parseQuery, type Query } from "../request/query.ts";
import { parseKml } from "./kml/kml-address.ts";
import { parseOgc } from "./ogc/ogc-address.ts";
import type { Dialect } from "./reply/ogc-exception.ts";
import type { ErrorForm } from "./reply/tile-reply.ts";
import { notFound, type ParsedAddress, type Parser, type ProtocolRefusal } from "./tile-parts.ts";
import { parseTms } from "./tms/tms-address.ts";
import { errorPicture } from "./wms/map-exceptions.ts";
import { parseWms } from "./wms/wms-address.ts";
import { wmsVersion } from "./wms/wms-version.ts";
import { parseWmtsKvp } from "./wmts/wmts-address.ts";
import { parseWmtsRest } from "./wmts/wmts-rest.ts";
import { parseTileJson } from "./xyz/tilejson.ts";
import { parseGmaps, parseQuadkey, parseVe, parseXyz } from "./xyz/xyz-address.ts";

/** The protocols whose addresses begin with their name. */
const OWN_SEGMENT = {
  xyz: parseXyz,
  quadkey: parseQuadkey,
  tilejson: parseTileJson,
  ogc: parseOgc,
} satisfies Record<string, Parser>;

const PROTOCOLS = {
  ...OWN_SEGMENT,
  kml: parseKml,
  tms: parseTms,
  "wmts-rest": parseWmtsRest,
  wmts: (catalogue, _, query) => parseWmtsKvp(catalogue, query),
  wms: (catalogue, _, query) => parseWms(catalogue, query),
  ve: (catalogue, _, query) => parseVe(catalogue, query),
  gmaps: (catalogue, _, query) => parseGmaps(catalogue, query, "up"),
  mgmaps: (catalogue, _, query) => parseGmaps(catalogue, query, "down"),
} satisfies Record<string, Parser>;

/** The protocol of a path, and the remaining path. */
export interface TileRoute {
  readonly protocol: keyof typeof PROTOCOLS;
  readonly rest: readonly string[];
}

const undecodable = (what: string, raw: string): { readonly ok: false; readonly error: Refusal } =>
  refuse({ code: "malformed", message: `${what} cannot be decoded: ${shown(raw)}` });

const hasOwnSegment = (name: string | undefined): name is keyof typeof OWN_SEGMENT =>
  name !== undefined && Object.hasOwn(OWN_SEGMENT, name);

/** Returns whether a raw path belongs to the tile protocols, which may also refuse it. */
export function isTilePath(path: string): boolean {
  const end = path.indexOf("/", 1);
  const first = path.slice(1, end < 0 ? undefined : end);
  return first === "service" || hasOwnSegment(first);
}

/**
 * Returns the protocol of a path. The check does not depend on method, layer or query: the 404 of a path takes
 * precedence over 405 (`docs/reference/wire-format.md`, Addresses).
 */
export function routeOf(path: string): Result<TileRoute, Refusal> {
  const segments = segmentsOf(path);
  if (!segments.ok) return undecodable("The address", segments.error);
  const [first, second, third] = segments.value;
  const rest = segments.value.slice(1);
  // Only `/ogc` itself has a document.
  if (hasOwnSegment(first) && (rest.length > 0 || first === "ogc")) return ok({ protocol: first, rest });
  if (first === "service") {
    if (second === "tms") return ok({ protocol: "tms", rest: segments.value.slice(2) });
    if (second === "kml" && third !== undefined) return ok({ protocol: "kml", rest: segments.value.slice(2) });
    if (second === "wmts" && third === "rest") return ok({ protocol: "wmts-rest", rest: segments.value.slice(3) });
    if (second === "wmts" && third === undefined) return ok({ protocol: "wmts", rest: [] });
    const simple = second === "wms" || second === "ve" || second === "gmaps" || second === "mgmaps";
    if (simple && third === undefined) return ok({ protocol: second, rest: [] });
  }
  const own = Object.keys(OWN_SEGMENT).map((name) => `/${name}`);
  return notFound(
    `Nothing is at this address. Tiles are under /service/wmts, /service/tms/1.0.0, /service/wms, /service/kml, ${own.slice(0, -1).join(", ")} and ${own.at(-1)}`,
  );
}

/** The protocols below `/service` whose query GeoWebCache also reads from a form. */
const WITH_FORMS: ReadonlySet<TileRoute["protocol"]> = new Set([
  "wmts",
  "wmts-rest",
  "wms",
  "tms",
  "kml",
  "gmaps",
  "mgmaps",
  "ve",
]);

/** Returns whether the query of a path may come as the body of a POST. */
export const takesForm = ({ protocol }: TileRoute): boolean => WITH_FORMS.has(protocol);

/** Returns the format in which a protocol reports errors. */
function dialectOf({ protocol }: TileRoute, query: Query): Dialect {
  if (protocol === "wms") return `wms-${wmsVersion(query)}`;
  if (protocol === "wmts-rest") return "ows-rest";
  return protocol === "wmts" ? "ows" : "plain";
}

/** Returns the format in which the protocol of a path reports an error of a body. */
export function dialectOfPath(route: TileRoute, queryText: string): Dialect {
  const query = parseQuery(queryText);
  return dialectOf(route, query.ok ? query.value : new Map());
}

/** Parses a request, and returns the form in which its client gets errors. */
export function parseRequested(
  catalogue: Catalogue,
  route: TileRoute,
  queryText: string,
): { readonly errors: ErrorForm; readonly requested: Result<ParsedAddress, ProtocolRefusal> } {
  const query = parseQuery(queryText);
  if (!query.ok) {
    const errors = { dialect: dialectOf(route, new Map()), picture: undefined };
    return { errors, requested: undecodable("The query", query.error) };
  }
  const parse: Parser = PROTOCOLS[route.protocol];
  const requested = parse(catalogue, route.rest, query.value);
  const picture = route.protocol === "wms" ? errorPicture(catalogue, query.value) : undefined;
  return { errors: { dialect: errorDialect(route, query.value, requested), picture }, requested };
}

function errorDialect(route: TileRoute, query: Query, requested: Result<ParsedAddress, ProtocolRefusal>): Dialect {
  const dialect = dialectOf(route, query);
  if (requested.ok) return dialect;
  // GeoWebCache answers with an exception document in every protocol.
  if (requested.error.code === "layer_disabled" && dialect === "plain") return "ows";
  return requested.error.dialect ?? dialect;
}
