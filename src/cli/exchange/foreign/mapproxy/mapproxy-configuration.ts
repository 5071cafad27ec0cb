import { dirname, resolve } from "node:path";
import type { Content } from "../../../../gwc/content.ts";
import { defined } from "../../../../lib/defined.ts";
import { isMap } from "../../../../lib/is-map.ts";
import type { ForeignConfiguration } from "../foreign-configuration.ts";
import { ForeignObject } from "../foreign-object.ts";
import { MapProxyCaches } from "./mapproxy-caches.ts";
import { readMapProxy } from "./mapproxy-file.ts";
import { MapProxyGrids } from "./mapproxy-grids.ts";
import { MapProxySources, type SourceContext } from "./mapproxy-sources.ts";

/** Translates a MapProxy configuration. @throws CommandFailure if it cannot be read */
export async function mapProxyConfiguration(file: string): Promise<ForeignConfiguration> {
  const document = await readMapProxy(file);
  const globals = new ForeignObject("globals", document["globals"] ?? {});
  const services = new ForeignObject("services", document["services"] ?? {});
  const variables = new Set<string>();
  const grids = new MapProxyGrids(section(document, "grids"), globals);
  const context: SourceContext = { grids, globals, directory: dirname(resolve(file)), variables };
  const sources = new MapProxySources(section(document, "sources"), context);
  const caches = new MapProxyCaches(section(document, "caches"), sources, context);
  const serviceInformation = informationOf(services);
  const leftOut: string[] = [];
  const objects: ForeignObject[] = [];
  const layers: ForeignConfiguration["layers"][number][] = [];
  const names = new Set<string>();
  for (const layer of layerObjects(document["layers"])) {
    objects.push(layer);
    const name = layer.text("name");
    if (name === undefined) {
      layer.kept("title", "layers have no groups");
      continue;
    }
    const made = layerOf(layer, name, caches, sources, services.look("wms") !== undefined);
    if (typeof made === "string") leftOut.push(`the layer ${name}: ${made}`);
    else if (names.has(name)) leftOut.push(`a second layer ${name}`);
    else layers.push(made);
    names.add(name);
  }
  const used = new Set(layers.flatMap(({ from }) => from));
  for (const { title } of caches.objects) if (!used.has(title)) leftOut.push(`the ${title}, which no layer uses alone`);
  for (const service of ["wms", "wmts", "tms", "kml"]) {
    const options = services.look(service) ?? {};
    // Other options are reported one by one.
    if (isMap(options) && Object.keys(options).length === 0) services.differently(service, "the service is always on");
  }
  globals.differently("image.paletted", "use the format image/png8 for tiles with a palette");
  return {
    gridSets: grids.used.flatMap(({ content }) => (content === undefined ? [] : [content])),
    layers,
    serviceInformation,
    reports: [services, globals, ...grids.objects, ...sources.objects, ...caches.objects, ...objects].flatMap((one) =>
      one.report(),
    ),
    variables: [...variables],
    leftOut,
    warnings: [],
  };
}

function section(document: Readonly<Record<string, unknown>>, key: string): Readonly<Record<string, unknown>> {
  const found = document[key];
  return isMap(found) ? found : {};
}

/** Returns the groups and the layers in them. Layers in a map have their names as keys. */
function layerObjects(layers: unknown): readonly ForeignObject[] {
  if (isMap(layers) && layers["layers"] === undefined && layers["sources"] === undefined)
    return Object.entries(layers).flatMap(([name, layer]) =>
      layerObjects([isMap(layer) ? { name, ...layer } : { name }]),
    );
  const list = Array.isArray(layers) ? layers : layers === undefined ? [] : [layers];
  return list.flatMap((layer: unknown): readonly ForeignObject[] => {
    if (!isMap(layer)) return [];
    const { layers: inner, ...own } = layer;
    const { name, title } = own;
    const named = new ForeignObject(name === undefined ? `group ${String(title)}` : `layer ${String(name)}`, own);
    return [named, ...layerObjects(inner)];
  });
}

/** Returns a layer of the configuration file, or why there is none. */
function layerOf(
  layer: ForeignObject,
  name: string,
  caches: MapProxyCaches,
  sources: MapProxySources,
  hasWms: boolean,
): ForeignConfiguration["layers"][number] | string {
  const named = layer.texts("tile_sources") ?? layer.texts("sources") ?? [];
  if (layer.look("tile_sources") !== undefined) layer.kept("sources", "the tile_sources are used");
  const cached = named.filter((one) => caches.has(one));
  const [cache, ...others] = cached;
  if (cache === undefined)
    return named.some((one) => sources.has(one)) ? "its sources have no cache" : "it has no source of its own";
  if (others.length > 0 || cached.length < named.length) return "its sources are drawn over each other";
  const filters = dimensionFilters(layer);
  const translated = caches.translate(cache, filters.length > 0);
  if (!translated.ok) return translated.error;
  const { content, from, queryable, hasLegend } = translated.value;
  const legendUrl = layer.text("legendurl");
  const legend =
    legendUrl?.startsWith("http") === true ? { style: "", url: legendUrl } : hasLegend ? { style: "" } : undefined;
  if (legendUrl !== undefined && legend === undefined) layer.kept("legendurl", "only addresses with http are legends");
  const { source, ...rest } = content;
  return {
    from: [layer.title, ...from],
    content: defined({
      name,
      title: layer.text("title"),
      description: layer.text("md.abstract"),
      keywords: keywordsOf(layer.value("md.keyword_list")),
      metadataUrls: metadataUrls(layer.value("md.metadata")),
      source,
      ...rest,
      parameterFilters: filters.length === 0 ? undefined : filters,
      legends: legend === undefined ? undefined : [legend],
      queryable: queryable ? true : undefined,
      // MapProxy's WMS composes maps of any extent.
      fullWms: hasWms ? true : undefined,
    }),
  };
}

function keywordsOf(list: unknown): readonly string[] | undefined {
  if (!Array.isArray(list)) return undefined;
  return list.flatMap((group: unknown) =>
    isMap(group) && Array.isArray(group["keywords"]) ? group["keywords"].map(String) : [],
  );
}

function metadataUrls(list: unknown): readonly Content[] | undefined {
  if (!Array.isArray(list)) return undefined;
  return list.flatMap((item: unknown) =>
    isMap(item) && typeof item["url"] === "string"
      ? [{ type: String(item["type"] ?? "TC211"), format: String(item["format"] ?? "text/xml"), url: item["url"] }]
      : [],
  );
}

function dimensionFilters(layer: ForeignObject): readonly Content[] {
  const dimensions = layer.look("dimensions");
  if (!isMap(dimensions)) return [];
  layer.differently("dimensions", "each is a parameter filter with its values");
  return Object.keys(dimensions).map((key) => {
    const values = layer.texts(["dimensions", key, "values"]) ?? [];
    return {
      type: "string",
      key: key.toUpperCase(),
      default: layer.text(["dimensions", key, "default"]) ?? values[0] ?? "",
      values,
    };
  });
}

/** The description of the service: that of WMS, else that of WMTS. */
function informationOf(services: ForeignObject): Content | undefined {
  const at = services.look("wms.md") === undefined ? "wmts.md" : "wms.md";
  if (services.look(at) === undefined) return undefined;
  if (at === "wms.md") services.kept("wmts.md", "capabilities of all services have the description of WMS");
  const text = (key: string) => services.text(`${at}.${key}`);
  const contact = defined({
    individualName: text("contact.person"),
    positionName: text("contact.position"),
    addressStreet: text("contact.address"),
    addressCity: text("contact.city"),
    addressPostalCode: text("contact.postcode"),
    addressCountry: text("contact.country"),
    phoneNumber: text("contact.phone"),
    faxNumber: text("contact.fax"),
    addressEmail: text("contact.email"),
  });
  const provider = defined({
    providerName: text("contact.organization"),
    providerSite: text("online_resource"),
    serviceContact: Object.keys(contact).length === 0 ? undefined : contact,
  });
  return defined({
    title: text("title"),
    description: text("abstract"),
    keywords: keywordsOf(services.value(`${at}.keyword_list`)),
    serviceProvider: Object.keys(provider).length === 0 ? undefined : provider,
    fees: text("fees"),
    accessConstraints: text("access_constraints"),
  });
}
