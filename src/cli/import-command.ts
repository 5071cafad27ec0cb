import { writeFileSync } from "node:fs";
import { Command } from "commander";
import { stringify } from "yaml";
import type { Extent } from "../grid/grid-set.ts";
import { HALF_WORLD, toWebMercator } from "../grid/web-mercator.ts";
import { createHttpFetch } from "../source/http-fetch.ts";
import { readWmsCatalogue, type WmsCatalogue, type WmsCatalogueLayer } from "../source/wms-catalogue.ts";
import { CommandFailure, EXIT } from "./exit.ts";

const TIMEOUT_MS = 60_000;
/** The widest metatile that a layer gets by default, in tiles of 256 pixels. */
const METATILE = 4;
const TILE = 256;
/** Written for as long as they are offered: what others there are, nobody's browser shows. */
const FORMATS = ["image/png", "image/jpeg", "image/webp"];

interface ImportFlags {
  readonly layer?: readonly string[];
  readonly prefix?: string;
  readonly username?: string;
  readonly passwordVariable?: string;
  readonly output?: string;
}

/** `nuthatch import …`: configurations made of what an upstream says of itself. */
export function importCommand(): Command {
  const wms = new Command("wms")
    .description("writes the layers of a WMS as configuration, from its capabilities")
    .argument("<url>", "the address of the WMS, with what it always needs (such as ?map=…)")
    .option("--layer <name...>", "only these layers")
    .option("--prefix <prefix>", "put before each name, such as ws:")
    .option("--username <name>", "Basic authentication at the WMS")
    .option("--password-variable <variable>", "the environment variable that holds the password")
    .option("-o, --output <file>", "write to a new file instead of printing")
    .action(async (url: string, flags: ImportFlags) => {
      const text = stringify(
        { layers: await importedLayers(url, flags) },
        { lineWidth: 0, aliasDuplicateObjects: false },
      );
      if (flags.output === undefined) process.stdout.write(text);
      else writeFileSync(flags.output, text, { flag: "wx" });
    });
  return new Command("import").description("configurations made of what an upstream offers").addCommand(wms);
}

/** Layers in the shape of the configuration file. @throws CommandFailure */
async function importedLayers(url: string, flags: ImportFlags): Promise<readonly Record<string, unknown>[]> {
  const asked = await capabilities(url, flags);
  const read = readWmsCatalogue(asked);
  if (!read.ok) throw new CommandFailure(`${url} answered something else: ${read.error}`, EXIT.failure);
  const known = read.value.layers.map(({ name }) => name);
  const unknown = flags.layer?.filter((name) => !known.includes(name)) ?? [];
  if (unknown.length > 0)
    throw new CommandFailure(`the WMS has no layer ${unknown.join(", ")}; it has ${known.join(", ")}`, EXIT.usage);
  const layers = read.value.layers.filter(({ name }) => flags.layer?.includes(name) ?? true);
  if (layers.length === 0) throw new CommandFailure(`the WMS at ${url} offers no layer that has a name`, EXIT.failure);
  return layers.map((layer) => layerDocument(layer, read.value, url, flags));
}

async function capabilities(url: string, { username, passwordVariable }: ImportFlags): Promise<string> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new CommandFailure(`expected the http address of a WMS, got ${JSON.stringify(url)}`, EXIT.usage);
  const address = new URL(url);
  for (const key of [...address.searchParams.keys()])
    if (["service", "request", "version"].includes(key.toLowerCase())) address.searchParams.delete(key);
  address.searchParams.set("SERVICE", "WMS");
  address.searchParams.set("REQUEST", "GetCapabilities");
  const password = passwordVariable === undefined ? "" : (process.env[passwordVariable] ?? "");
  // The operator has just typed its address: nothing of it is cut out of a message.
  await using upstream = createHttpFetch(
    {
      timeoutMs: TIMEOUT_MS,
      connections: 1,
      vendorParameters: {},
      ...(username === undefined ? {} : { username, password }),
    },
    [],
  );
  const { status, body } = await upstream
    .ask(address, new AbortController().signal, (answer) => answer)
    .catch((error: unknown) => {
      throw new CommandFailure(
        `no answer from ${url}: ${error instanceof Error ? error.message : error}`,
        EXIT.failure,
      );
    });
  if (status !== 200) throw new CommandFailure(`${address.href} answered with status ${status}`, EXIT.failure);
  return new TextDecoder().decode(body);
}

function layerDocument(
  layer: WmsCatalogueLayer,
  { version, formats, maxWidth, maxHeight }: WmsCatalogue,
  url: string,
  { prefix = "", username, passwordVariable }: ImportFlags,
): Record<string, unknown> {
  const offered = FORMATS.filter((format) => formats.includes(format));
  const side = Math.floor(Math.min(maxWidth ?? Number.POSITIVE_INFINITY, maxHeight ?? Number.POSITIVE_INFINITY) / TILE);
  const filters = parameterFilters(layer);
  const legends = legendDocuments(layer);
  return {
    name: prefix + layer.name,
    title: layer.title,
    ...(layer.abstract === "" ? {} : { description: layer.abstract }),
    source: {
      type: "wms",
      url,
      version,
      layers: [layer.name],
      ...(username === undefined ? {} : { username }),
      ...(passwordVariable === undefined ? {} : { password: `\${${passwordVariable}}` }),
    },
    gridSubsets: gridSubsets(layer),
    formats: offered.length === 0 ? ["image/png"] : offered,
    ...(side >= METATILE ? {} : { metatile: [Math.max(1, side), Math.max(1, side)] }),
    ...(filters.length === 0 ? {} : { parameterFilters: filters }),
    ...(legends.length === 0 ? {} : { legends }),
    ...(layer.queryable ? { queryable: true } : {}),
  };
}

/** The two grid sets of everybody, as far as the WMS draws in their CRS. */
function gridSubsets({ crs, box }: WmsCatalogueLayer): readonly Record<string, unknown>[] {
  const [west, south, east, north] = box ?? [-180, -90, 180, 90];
  const degrees = {
    minX: Math.max(west, -180),
    minY: Math.max(south, -90),
    maxX: Math.min(east, 180),
    maxY: Math.min(north, 90),
  };
  const mercator = ["EPSG:3857", "EPSG:900913", "EPSG:102100", "EPSG:102113"].some((code) => crs.has(code));
  const geographic = crs.has("EPSG:4326") || crs.has("CRS:84") || !mercator;
  return [
    ...(geographic ? [subset("EPSG:4326", degrees, 180, 90)] : []),
    ...(mercator ? [subset("EPSG:900913", toWebMercator(degrees), HALF_WORLD, HALF_WORLD)] : []),
  ];
}

/** Without an extent where it is the world, or not one at all. */
function subset(
  gridSet: string,
  { minX, minY, maxX, maxY }: Extent,
  halfX: number,
  halfY: number,
): Record<string, unknown> {
  const tolerance = halfX / 1e6;
  const isWorld =
    minX <= -halfX + tolerance && minY <= -halfY + tolerance && maxX >= halfX - tolerance && maxY >= halfY - tolerance;
  return isWorld || !(minX < maxX && minY < maxY) ? { gridSet } : { gridSet, extent: [minX, minY, maxX, maxY] };
}

/** Several styles, and every dimension: a list of values as it is, intervals by their alphabet. */
function parameterFilters({ styles, dimensions }: WmsCatalogueLayer): readonly Record<string, unknown>[] {
  const named = styles.filter((style) => style !== "");
  return [
    ...(named.length > 1 ? [{ type: "string", key: "STYLES", default: "", values: named }] : []),
    ...dimensions.map(({ name, default: initial, values }) => {
      const key = name === "TIME" || name === "ELEVATION" || name.startsWith("DIM_") ? name : `DIM_${name}`;
      return values.some((value) => value.includes("/"))
        ? { type: "regex", key, default: initial, regex: "[0-9A-Za-z:.+/-]+" }
        : { type: "string", key, default: initial, values };
    }),
  ];
}

/** A style that the layer offers by its name, the first one as its default too. */
function legendDocuments({ styles, legends }: WmsCatalogueLayer): readonly Record<string, unknown>[] {
  const named = styles.filter((style) => style !== "");
  const [standard] = styles;
  const offered = named.length > 1 ? named : [];
  return [...(standard === undefined ? [] : [["", standard] as const]), ...offered.map((name) => [name, name] as const)]
    .map(([style, name]) => ({ style, legend: legends.get(name) }))
    .flatMap(({ style, legend }) =>
      legend === undefined
        ? []
        : [
            {
              ...(style === "" ? {} : { style }),
              width: legend.width,
              height: legend.height,
              format: legend.format,
              // What the WMS draws itself it is asked for; its address may be nobody's business.
              ...(isLegendGraphic(legend.url) ? {} : { url: legend.url }),
            },
          ],
    );
}

function isLegendGraphic(url: string): boolean {
  const request = [...new URL(url).searchParams].find(([key]) => key.toLowerCase() === "request")?.[1] ?? "";
  return request.toLowerCase() === "getlegendgraphic";
}
