import { writeFileSync } from "node:fs";
import { Command } from "commander";
import { request } from "undici";
import { stringify } from "yaml";
import { readWmsCatalogue, type WmsCatalogue, type WmsCatalogueLayer } from "../source/wms-catalogue.ts";
import { CommandFailure, EXIT } from "./exit.ts";

const LIMIT = 64 * 1024 * 1024;
const TIMEOUT_MS = 60_000;
/** The widest metatile that a layer gets by default, in tiles of 256 pixels. */
const METATILE = 4;
const TILE = 256;
const HALF_WORLD = 20037508.342789244;
const LAST_LATITUDE = 85.0511287798066;
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
  const authorization = `Basic ${Buffer.from(`${username ?? ""}:${password}`).toString("base64")}`;
  return read(address, username === undefined ? {} : { authorization }).catch((error: unknown) => {
    if (error instanceof CommandFailure) throw error;
    throw new CommandFailure(`no answer from ${url}: ${error instanceof Error ? error.message : error}`, EXIT.failure);
  });
}

async function read(address: URL, headers: Readonly<Record<string, string>>): Promise<string> {
  const { statusCode, body } = await request(address, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > LIMIT) throw new CommandFailure(`the capabilities are larger than ${LIMIT} bytes`, EXIT.failure);
    chunks.push(chunk);
  }
  if (statusCode !== 200) throw new CommandFailure(`${address.href} answered with status ${statusCode}`, EXIT.failure);
  return Buffer.concat(chunks).toString("utf8");
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
  const degrees = [Math.max(west, -180), Math.max(south, -90), Math.min(east, 180), Math.min(north, 90)];
  const metres = [mercatorX(west), mercatorY(south), mercatorX(east), mercatorY(north)];
  const mercator = ["EPSG:3857", "EPSG:900913", "EPSG:102100", "EPSG:102113"].some((code) => crs.has(code));
  const geographic = crs.has("EPSG:4326") || crs.has("CRS:84") || !mercator;
  return [
    ...(geographic ? [subset("EPSG:4326", degrees, 180, 90)] : []),
    ...(mercator ? [subset("EPSG:900913", metres, HALF_WORLD, HALF_WORLD)] : []),
  ];
}

/** Without an extent where it is the world, or not one at all. */
function subset(gridSet: string, extent: readonly number[], halfX: number, halfY: number): Record<string, unknown> {
  const [minX = 0, minY = 0, maxX = 0, maxY = 0] = extent;
  const tolerance = halfX / 1e6;
  const isWorld =
    minX <= -halfX + tolerance && minY <= -halfY + tolerance && maxX >= halfX - tolerance && maxY >= halfY - tolerance;
  return isWorld || !(minX < maxX && minY < maxY) ? { gridSet } : { gridSet, extent };
}

const mercatorX = (longitude: number): number => (Math.max(-180, Math.min(180, longitude)) / 180) * HALF_WORLD;
function mercatorY(latitude: number): number {
  const bounded = Math.max(-LAST_LATITUDE, Math.min(LAST_LATITUDE, latitude));
  return (Math.log(Math.tan(((90 + bounded) * Math.PI) / 360)) / Math.PI) * HALF_WORLD;
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
