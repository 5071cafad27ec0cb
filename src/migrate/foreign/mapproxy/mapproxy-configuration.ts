import { dirname, resolve } from "node:path";
import { defined } from "../../../lib/defined.ts";
import { type Content, isMap } from "../../../lib/is-map.ts";
import type { ForeignConfiguration, ForeignLayer } from "../foreign-configuration.ts";
import { ForeignObject, type Place } from "../foreign-object.ts";
import { Origins, placed } from "../origins.ts";
import { MapProxyCaches } from "./mapproxy-caches.ts";
import { dimensionFilters } from "./mapproxy-dimensions.ts";
import { readMapProxy } from "./mapproxy-file.ts";
import { MapProxyGrids } from "./mapproxy-grids.ts";
import { MapProxySources, type SourceContext } from "./mapproxy-sources.ts";

/** Translates a MapProxy configuration. @throws MigrationError if it cannot be read */
export async function mapProxyConfiguration(file: string): Promise<ForeignConfiguration> {
  const origins = new Origins();
  const document = await readMapProxy(file, origins);
  const single = (key: string) =>
    new ForeignObject(key, document[key] ?? {}, { origins, origin: origins.at(document, [key]) });
  const objectsOf = (key: string, kind: string) => {
    const content = section(document, key);
    return new Map(
      Object.entries(content).map(([name, one]) => [
        name,
        new ForeignObject(`${kind} ${name}`, one, { origins, origin: origins.at(content, [name]) }),
      ]),
    );
  };
  const globals = single("globals");
  const services = single("services");
  const variables = new Set<string>();
  const grids = new MapProxyGrids(objectsOf("grids", "grid"), globals);
  const context: SourceContext = { grids, globals, directory: dirname(resolve(file)), variables };
  const sources = new MapProxySources(objectsOf("sources", "source"), context);
  const caches = new MapProxyCaches(objectsOf("caches", "cache"), sources, context);
  const serviceInformation = informationOf(services);
  const leftOut: string[] = [];
  const objects: ForeignObject[] = [];
  const layers: ForeignLayer[] = [];
  const names = new Set<string>();
  const faults = () =>
    new Map(
      [...sources.objects, ...caches.objects].map(({ title, faults: own }): [string, readonly string[]] => [
        title,
        own,
      ]),
    );
  for (const layer of layerObjects(document["layers"], { origins, origin: origins.at(document, ["layers"]) })) {
    objects.push(layer);
    const name = layer.text("name");
    if (name === undefined) {
      layer.kept("title", "layers have no groups");
      continue;
    }
    const made = layerOf(layer, name, caches, sources, services.has("wms"));
    const own = `layer ${name}`;
    const line = placed(layer.where());
    const fault = typeof made === "string" ? undefined : made.from.flatMap((title) => faults().get(title) ?? [])[0];
    if (typeof made === "string") leftOut.push(`the ${own}: ${made}${line}`);
    else if (fault !== undefined) leftOut.push(`the ${own}: ${fault}`);
    else if (names.has(name)) leftOut.push(`a second ${own}${line}`);
    else layers.push(made);
    names.add(name);
  }
  const used = new Set(layers.flatMap(({ from }) => from));
  for (const one of caches.objects)
    if (!used.has(one.title)) leftOut.push(`the ${one.title}, which no layer uses alone${placed(one.where())}`);
  for (const service of ["wms", "wmts", "tms", "kml"]) {
    const options = services.look(service) ?? {};
    // A service with options has each option reported.
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

function section(document: Content, key: string): Content {
  const found = document[key];
  return isMap(found) ? found : {};
}

/** Returns the groups and the layers in them. In a map of layers the keys are the names. */
function layerObjects(layers: unknown, { origins, origin }: Place): readonly ForeignObject[] {
  if (isMap(layers) && layers["layers"] === undefined && layers["sources"] === undefined)
    return Object.entries(layers).flatMap(([name, layer]) => {
      const named = isMap(layer) ? { name, ...layer } : { name };
      if (isMap(layer)) origins.copy(named, layer);
      return layerObjects([named], { origins, origin: origins.at(layers, [name]) });
    });
  const list: readonly unknown[] = Array.isArray(layers) ? layers : layers === undefined ? [] : [layers];
  return list.flatMap((layer, i): readonly ForeignObject[] => {
    if (!isMap(layer)) return [];
    const { layers: inner, ...own } = layer;
    origins.copy(own, layer);
    const { name, title } = own;
    const place = { origins, origin: (list === layers ? origins.at(layers, [String(i)]) : undefined) ?? origin };
    const named = new ForeignObject(
      name === undefined ? `group ${String(title)}` : `layer ${String(name)}`,
      own,
      place,
    );
    return [named, ...layerObjects(inner, place)];
  });
}

/** Returns a layer for the configuration file, or why it cannot be made. */
function layerOf(
  layer: ForeignObject,
  name: string,
  caches: MapProxyCaches,
  sources: MapProxySources,
  hasWms: boolean,
): ForeignLayer | string {
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
    origin: layer.where(),
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

/** Returns the description of the service: of WMS, else of WMTS. */
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
