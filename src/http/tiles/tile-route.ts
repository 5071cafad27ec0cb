import type { Catalogue } from "../../layer/catalogue.ts";
import type { Refusal } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { parseQuery, splitPath } from "./address.ts";
import type { Dialect } from "./ogc-exception.ts";
import { type Asked, type DoorRefusal, notFound } from "./tile-parts.ts";
import { parseTms } from "./tms-address.ts";
import { parseWms, wmsVersion } from "./wms-address.ts";
import { parseWmtsKvp, parseWmtsRest } from "./wmts-address.ts";
import { parseXyz } from "./xyz-address.ts";

/** The door that a path leads to, and what of the path is left for it. */
export interface TileRoute {
  readonly protocol: "xyz" | "tms" | "wmts" | "wmts-rest" | "wms";
  readonly rest: readonly string[];
}

/** The part of the check that does not depend on method, layer or query: 404 of the path comes before 405 (decisions 1). */
export function routeOf(path: string): Result<TileRoute, Refusal> {
  const segments = splitPath(path);
  if (!segments.ok) return segments;
  const [first, second, third] = segments.value;
  if (first === "xyz" && segments.value.length > 1) return ok({ protocol: "xyz", rest: segments.value.slice(1) });
  if (first === "service") {
    if (second === "tms") return ok({ protocol: "tms", rest: segments.value.slice(2) });
    if (second === "wmts" && third === "rest") return ok({ protocol: "wmts-rest", rest: segments.value.slice(3) });
    if (second === "wmts" && third === undefined) return ok({ protocol: "wmts", rest: [] });
    if (second === "wms" && third === undefined) return ok({ protocol: "wms", rest: [] });
  }
  return notFound("Nothing is here. Tiles are under /service/wmts, /service/tms/1.0.0, /service/wms and /xyz");
}

/** What a request asks for, and the language in which its door refuses. Pure; never throws for what a client sent. */
export function parseAsked(
  catalogue: Catalogue,
  { protocol, rest }: TileRoute,
  queryText: string,
): { readonly dialect: Dialect; readonly asked: Result<Asked, DoorRefusal> } {
  const parsed = parseQuery(queryText);
  const query: ReadonlyMap<string, string> = parsed.ok ? parsed.value : new Map();
  const answer = (dialect: Dialect, parse: () => Result<Asked, DoorRefusal>) => ({
    dialect,
    asked: parsed.ok ? parse() : refuse(parsed.error),
  });
  switch (protocol) {
    case "xyz":
      return answer("plain", () => parseXyz(catalogue, rest, query));
    case "tms":
      return answer("plain", () => parseTms(catalogue, rest, query));
    case "wmts-rest":
      return answer("plain", () => parseWmtsRest(catalogue, rest, query));
    case "wmts":
      return answer("ows", () => parseWmtsKvp(catalogue, query));
    case "wms":
      return answer(`wms-${wmsVersion(query)}`, () => parseWms(catalogue, query));
  }
}
