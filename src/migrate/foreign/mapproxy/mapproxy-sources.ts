import { resolve } from "node:path";
import { canonicalSrs, type Extent } from "../../../grid/grid-set.ts";
import { defined } from "../../../lib/defined.ts";
import { type Content, isMap } from "../../../lib/is-map.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import type { ForeignGrid } from "../foreign-grid.ts";
import { extentIn, type ForeignObject } from "../foreign-object.ts";
import { UpstreamHeaders, upstreamUrl, WrittenParameters } from "../upstream.ts";
import { type MapProxyGrids, srsCode, srsNameOf } from "./mapproxy-grids.ts";

/** A source in the form of the configuration file, with keys that belong to the layer. */
export interface TranslatedSource {
  readonly content: Content;
  /** The titles of the objects from which the source is made. */
  readonly from: readonly string[];
  readonly queryable: boolean;
  readonly hasLegend: boolean;
  /** The CRSs of the upstream in the spelling of the file. Undefined if it has all. */
  readonly supportedSrs?: readonly string[];
  /** The area with data and its CRS. Undefined if the source has data everywhere. */
  readonly coverage: { readonly box: Extent; readonly srs: number } | undefined;
  /** Returns whether the source renders in the CRS of a grid. */
  readonly serves: (grid: ForeignGrid) => boolean;
}

/** Parameters of WMS requests for which the configuration has keys. */
const WMS_KEYS = ["url", "layers", "styles", "transparent", "format", "bgcolor", "width", "height", "srs", "bbox"];
/** Parameters that every request of a WMS source has. In MapProxy `wms_opts` determines the version. */
const SET_KEYS = ["service", "request", "version", "crs"];
const TIMEOUT_SECONDS = 60;

const listOf = (texts: readonly string[] | undefined): readonly string[] | undefined =>
  texts?.flatMap((list) => list.split(","));

/** The parts of the file that the conversion of a source needs. */
export interface SourceContext {
  readonly grids: MapProxyGrids;
  readonly globals: ForeignObject;
  /** The directory that paths start from. */
  readonly directory: string;
  readonly variables: Set<string>;
}

/** The sources of a MapProxy configuration. */
export class MapProxySources {
  readonly #objects: ReadonlyMap<string, ForeignObject>;
  readonly #context: SourceContext;
  readonly #headers: UpstreamHeaders;

  constructor(sources: ReadonlyMap<string, ForeignObject>, context: SourceContext) {
    this.#context = context;
    this.#objects = sources;
    this.#headers = new UpstreamHeaders(context.variables);
  }

  get objects(): readonly ForeignObject[] {
    return [...this.#objects.values()];
  }

  has(name: string): boolean {
    return this.#objects.has(name.split(":")[0] ?? name);
  }

  /** Returns a source, or why it cannot be used. The layers to request may be in the name: `NAME:LAYER,LAYER`. */
  translate(named: string, format: string): Result<TranslatedSource, string> {
    const [name = named, layers] = named.split(":");
    const source = this.#objects.get(name);
    if (source === undefined) return refuse(`there is no source ${name}`);
    const type = source.text("type") ?? "";
    const common = this.#common(source);
    const from = [source.title];
    switch (type) {
      case "wms":
        return ok({ ...this.#wms(source, name, layers), ...common, from });
      case "tile": {
        const tile = this.#tile(source, name, format);
        return tile.ok ? ok({ ...tile.value, ...common, from }) : tile;
      }
      case "arcgis": {
        const arcgis = this.#arcgis(source, name);
        return arcgis.ok ? ok({ ...arcgis.value, ...common, from }) : arcgis;
      }
      default:
        source.kept("type", "only sources of the types wms, tile and arcgis have an equivalent");
        return refuse(`the source ${name} is of the type ${type}`);
    }
  }

  #common(source: ForeignObject): Pick<TranslatedSource, "coverage"> {
    const box = extentIn(source.numbers("coverage.bbox"));
    const srs = srsCode(srsNameOf(source.text("coverage.srs") ?? source.text("coverage.bbox_srs") ?? "EPSG:4326"));
    for (const key of [
      "polygons",
      "datasource",
      "ogr_datasource",
      "union",
      "difference",
      "intersection",
      "expire_tiles",
    ])
      source.kept(["coverage", key], "only a bbox limits the area that a layer offers");
    if (box !== undefined && srs !== undefined) return { coverage: { box, srs } };
    source.kept("coverage.bbox", "expected four numbers, and the code of a CRS of EPSG");
    return { coverage: undefined };
  }

  /** Returns the keys of a source over HTTP. */
  #upstream(source: ForeignObject, url: string, name: string): Content {
    const { globals, directory, variables } = this.#context;
    const ca = source.text("http.ssl_ca_certs") ?? globals.text("http.ssl_ca_certs");
    for (const object of [source, globals])
      object.kept("http.ssl_no_cert_checks", "certificates are always checked: name the authority with ca");
    const url_ = upstreamUrl(url, name, variables);
    if (url_.password !== undefined)
      source.differently(source.look("url") === undefined ? "req.url" : "url", "the password is in a variable");
    const hasUser = url_.username !== undefined;
    // The headers of a source replace those for all sources.
    const headers =
      source.look("http.headers") === undefined
        ? this.#headers.of(globals, "globals", hasUser)
        : this.#headers.of(source, name, hasUser);
    const hasCookies = source.flag("http.manage_cookies") ?? globals.flag("http.manage_cookies") ?? false;
    const hasOwnCookies = Object.keys(headers ?? {}).some((name) => name.toLowerCase() === "cookie");
    if (hasCookies && hasOwnCookies)
      (source.has("http.manage_cookies") ? source : globals).kept(
        "http.manage_cookies",
        "the header Cookie is sent instead",
      );
    const missing = missingStatuses(source);
    const limit = source.number("concurrent_requests") ?? globals.number("http.concurrent_requests");
    return defined({
      ...url_,
      timeoutSeconds: source.number("http.client_timeout") ?? globals.number("http.client_timeout") ?? TIMEOUT_SECONDS,
      connections: limit === undefined || limit === 0 ? undefined : limit,
      ca: ca === undefined ? undefined : resolve(directory, ca),
      headers,
      cookies: hasCookies && !hasOwnCookies ? true : undefined,
      missing: missing.length === 0 ? undefined : missing,
    });
  }

  #wms(source: ForeignObject, name: string, only: string | undefined): Omit<TranslatedSource, "coverage" | "from"> {
    const version = source.text("wms_opts.version");
    if (version !== undefined && version !== "1.1.1" && version !== "1.3.0")
      source.differently("wms_opts.version", "requests are of version 1.1.1");
    // MapProxy also sends the parameters of the address. A parameter of the file overrides a parameter of the address.
    const address = new WrittenParameters(source.text("req.url") ?? "");
    const layers = only?.split(",") ?? listOf(source.texts("req.layers")) ?? address.list("LAYERS");
    const styles = listOf(source.texts("req.styles")) ?? address.list("STYLES");
    const req = source.look("req");
    const keys = isMap(req) ? Object.keys(req).filter((key) => !WMS_KEYS.includes(key.toLowerCase())) : [];
    const others = keys.filter((key) => !SET_KEYS.includes(key.toLowerCase()));
    for (const key of keys)
      if (!others.includes(key)) source.kept(["req", key], "each request has it; wms_opts.version is the version");
    const vendor = others.flatMap((key): [string, string][] => {
      const value = source.text(["req", key]);
      return value === undefined ? [] : [[key.toUpperCase(), value]];
    });
    const supported = source.texts("supported_srs")?.map(srsNameOf);
    const codes = supported?.map((name) => srsCode(name));
    const method = source.text("http.method");
    const transparent =
      source.flag("image.transparent") ??
      source.flag("transparent") ??
      source.flag("req.transparent") ??
      address.get("TRANSPARENT")?.toLowerCase() === "true";
    const bgColor = source.text("req.bgcolor") ?? address.get("BGCOLOR");
    return {
      content: defined({
        type: "wms",
        ...this.#upstream(source, address.url, name),
        version: version === "1.3.0" ? version : undefined,
        layers: layers?.map((layer) => layer.trim()),
        styles: styles?.some((style) => style !== "") ? styles : undefined,
        transparent,
        bgColor,
        method: method === "POST" ? "post" : undefined,
        vendorParameters: vendor.length === 0 ? undefined : Object.fromEntries(vendor),
      }),
      queryable: source.flag("wms_opts.featureinfo") === true,
      hasLegend: source.flag("wms_opts.legendgraphic") === true,
      ...(supported === undefined || supported.length === 0 ? {} : { supportedSrs: supported }),
      serves: ({ srs }) =>
        codes === undefined ||
        codes.length === 0 ||
        codes.some((one) => one !== undefined && canonicalSrs(one) === canonicalSrs(srs)),
    };
  }

  #tile(
    source: ForeignObject,
    name: string,
    format: string,
  ): Result<Omit<TranslatedSource, "coverage" | "from">, string> {
    const grid = this.#context.grids.grid(source.text("grid") ?? "GLOBAL_MERCATOR");
    if (!grid.ok) return grid;
    const given = source.text("url") ?? "";
    const sign = grid.value.rows === "bottom" ? "-" : "";
    const row = `{${sign}y}`;
    const path = (text: string): string =>
      text.replace(/%\((\w+)\)[sd]/g, (whole, key: string) => {
        const known: Readonly<Record<string, string>> = {
          x: "{x}",
          y: row,
          z: "{z}",
          tms_path: `{z}/{x}/${row}`,
          quadkey: "{q}",
          tc_path: `{${sign}tc}`,
          arcgiscache_path: `{${sign}arcgis}`,
          bbox: "{bbox}",
          format: /\/(\w+)/.exec(format)?.[1] ?? format,
        };
        return known[key] ?? whole;
      });
    const url = path(given);
    const [unknown] = /%\(\w+\)[sd]/.exec(url) ?? [];
    if (unknown !== undefined) return refuse(`the address of the source ${name} has ${unknown}`);
    return ok({
      content: { type: "xyz", ...this.#upstream(source, url, name) },
      queryable: false,
      hasLegend: false,
      serves: ({ id, rows }) => id === grid.value.id && (rows === grid.value.rows || id === "EPSG:900913"),
    });
  }

  #arcgis(source: ForeignObject, name: string): Result<Omit<TranslatedSource, "coverage" | "from">, string> {
    const layers = source.text("req.layers");
    const shown = /^show:([\d,]+)$/.exec(layers ?? "")?.[1];
    if (layers !== undefined && shown === undefined)
      source.kept("req.layers", "only show: with numbers has an equivalent");
    source.kept("opts.featureinfo", "only sources of the type wms have feature info");
    const url = (source.text("req.url") ?? "").replace(/\/export\/?$/, "");
    if (/\/ImageServer\b/i.test(url)) {
      source.kept("req.url", "only map services have an equivalent, image services have none");
      return refuse(`the source ${name} is an image service`);
    }
    const dpi = source.text("req.dpi");
    return ok({
      content: defined({
        type: "arcgis",
        ...this.#upstream(source, url, name),
        layers: shown?.split(",").map(Number),
        transparent: source.flag("req.transparent"),
        vendorParameters: dpi === undefined ? undefined : { dpi },
      }),
      queryable: false,
      hasLegend: false,
      serves: () => true,
    });
  }
}

/** Statuses of requests that were refused or sent too fast. They do not mean that a tile is missing. */
const REFUSING: readonly number[] = [401, 407, 408, 429];

/** Returns the statuses that MapProxy answers with a transparent tile, if they can mean that a tile is missing. */
function missingStatuses(source: ForeignObject): readonly number[] {
  const given = source.look("on_error");
  return Object.keys(isMap(given) ? given : {}).flatMap((key) => {
    const path = ["on_error", key];
    const status = Number(key);
    if (!/^(?:20[1-9]|4\d\d)$/.test(key) || REFUSING.includes(status)) {
      source.kept(path, "a failure is answered with an error, or with the expired tile");
      return [];
    }
    if (source.look([...path, "response"]) !== "transparent") {
      source.kept(path, "no tile has a colour of its own: with response transparent it is source.missing");
      return [];
    }
    source.value(path);
    source.differently([...path, "response"], "source.missing: clients get 404, and a map has a hole there");
    source.kept([...path, "cache"], "that there is no tile is remembered for as long as a tile would be");
    return [status];
  });
}

/**
 * Merges sources of one WMS into one source that requests all their layers at once. Undefined if they differ in
 * anything else. Each source has a variable for its password; the first source's variable is used.
 */
export function joinedSources(sources: readonly TranslatedSource[]): TranslatedSource | undefined {
  const [first, ...others] = sources;
  if (first === undefined || others.length === 0) return first;
  const kindOf = ({
    content: { layers: _, styles: __, transparent: ___, password: ____, ...rest },
  }: TranslatedSource) => JSON.stringify(rest);
  if (first.content["type"] !== "wms" || others.some((one) => kindOf(one) !== kindOf(first))) return undefined;
  const lists = sources.map(({ content }) => (Array.isArray(content["layers"]) ? content["layers"].map(String) : []));
  const styles = sources.flatMap(({ content }, i) =>
    Array.isArray(content["styles"]) ? content["styles"].map(String) : (lists[i] ?? []).map(() => ""),
  );
  const { styles: _, ...plain } = first.content;
  return {
    ...first,
    // The lowest map decides whether the result is transparent.
    content: { ...plain, layers: lists.flat(), ...(styles.some((style) => style !== "") ? { styles } : {}) },
    from: sources.flatMap(({ from }) => from),
    queryable: sources.some(({ queryable }) => queryable),
    coverage: sources.every(({ coverage }) => JSON.stringify(coverage) === JSON.stringify(first.coverage))
      ? first.coverage
      : undefined,
    serves: (grid) => sources.every(({ serves }) => serves(grid)),
  };
}
