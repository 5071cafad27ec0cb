import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { stringify } from "yaml";
import type { ConfigurationProblem } from "../../config/problem.ts";
import { answerText } from "../../lib/answer-text.ts";
import { createHttpFetch } from "../../source/http/http-fetch.ts";
import { readWmsCatalogue, type WmsCatalogue, type WmsCatalogueLayer } from "../../source/wms/wms-catalogue.ts";
import { CommandFailure, EXIT } from "../exit.ts";
import { type ImportedGrids, importedGrids, mergedGridSets, type OwnGridSet } from "./import-grids.ts";

const TIMEOUT_MS = 60_000;
/** The widest metatile that a layer gets by default, in tiles of 256 pixels. */
const METATILE = 4;
const TILE = 256;
/** Formats that browsers show. An imported layer gets those of them that the WMS offers. */
const FORMATS = ["image/png", "image/jpeg", "image/webp"];

interface ImportFlags {
  readonly layer?: readonly string[];
  readonly prefix?: string;
  readonly username?: string;
  readonly passwordVariable?: string;
  readonly output?: string;
}

/** `nuthatch import …`: creates a configuration from an upstream's description of itself. */
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
      const { document, warnings } = await imported(url, flags);
      const text = stringify(document, { lineWidth: 0, aliasDuplicateObjects: false });
      if (flags.output === undefined) process.stdout.write(text);
      else writeFileSync(flags.output, text, { flag: "wx" });
      for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`);
      const problems = await problemsOf(text, flags);
      if (problems.length === 0) return;
      process.stderr.write(
        `What is written needs changes before a server takes it:\n${problems.map(({ message }) => `  ${message}\n`).join("")}`,
      );
      process.exitCode = EXIT.configuration;
    });
  return new Command("import").description("configurations made of what an upstream offers").addCommand(wms);
}

interface Imported {
  /** In the shape of the configuration file. */
  readonly document: Readonly<Record<string, unknown>>;
  /** The layers that are left out, with the reason. */
  readonly warnings: readonly string[];
}

/** @throws CommandFailure */
async function imported(url: string, flags: ImportFlags): Promise<Imported> {
  const requested = await capabilities(url, flags);
  const read = readWmsCatalogue(requested);
  if (!read.ok) throw new CommandFailure(`${url} answered something else: ${read.error}`, EXIT.failure);
  const known = read.value.layers.map(({ name }) => name);
  const unknown = flags.layer?.filter((name) => !known.includes(name)) ?? [];
  if (unknown.length > 0)
    throw new CommandFailure(`the WMS has no layer ${unknown.join(", ")}; it has ${known.join(", ")}`, EXIT.usage);
  const layers = read.value.layers.filter(({ name }) => flags.layer?.includes(name) ?? true);
  if (layers.length === 0) throw new CommandFailure(`the WMS at ${url} offers no layer that has a name`, EXIT.failure);
  const placed = layers.map((layer) => ({ layer, grids: importedGrids(layer) }));
  const warnings = placed
    .filter(({ grids }) => grids === undefined)
    .map(
      ({ layer }) =>
        `layer ${layer.name} is left out: the WMS renders it only in ${[...layer.crs].join(", ")}, and does not say where it lies there`,
    );
  const stored = placed.flatMap(({ layer, grids }) => (grids === undefined ? [] : [{ layer, grids }]));
  if (stored.length === 0) throw new CommandFailure(warnings.join("\n"), EXIT.failure);
  const gridSets = mergedGridSets(stored.map(({ grids }) => grids));
  const document = {
    ...(gridSets.length === 0 ? {} : { gridSets: gridSets.map(gridSetDocument) }),
    layers: stored.map(({ layer, grids }) => layerDocument(layer, grids, read.value, url, flags)),
  };
  return { document, warnings };
}

const gridSetDocument = ({ id, srs, extent: { minX, minY, maxX, maxY }, metersPerUnit }: OwnGridSet) => ({
  id,
  srs,
  extent: [minX, minY, maxX, maxY],
  ...(metersPerUnit === undefined ? {} : { metersPerUnit }),
});

/** Returns the problems of the written configuration: its names and numbers come from the WMS and may be invalid. */
async function problemsOf(text: string, { passwordVariable }: ImportFlags): Promise<readonly ConfigurationProblem[]> {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-import-"));
  try {
    const config = join(directory, "imported.yaml");
    writeFileSync(config, text);
    // The variable has to be set only where the server runs, so this check uses a placeholder.
    const env = passwordVariable === undefined ? {} : { [passwordVariable]: "secret" };
    const { loadConfiguration } = await import("../../config/load.ts");
    const loaded = await loadConfiguration({ env, flags: { config }, cwd: process.cwd() });
    return loaded.ok ? [] : loaded.error;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
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
  // The operator has just typed the address, so messages may show all of it.
  await using upstream = createHttpFetch(
    {
      timeoutMs: TIMEOUT_MS,
      connections: 1,
      vendorParameters: {},
      ...(username === undefined ? {} : { username, password }),
    },
    [],
  );
  const { status, contentType, body } = await upstream
    .request(address, new AbortController().signal, (answer) => answer)
    .catch((error: unknown) => {
      throw new CommandFailure(
        `no answer from ${url}: ${error instanceof Error ? error.message : error}`,
        EXIT.failure,
      );
    });
  if (status !== 200) throw new CommandFailure(`${address.href} answered with status ${status}`, EXIT.failure);
  return answerText(body, contentType);
}

function layerDocument(
  layer: WmsCatalogueLayer,
  { gridSubsets }: ImportedGrids,
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
    gridSubsets,
    formats: offered.length === 0 ? ["image/png"] : offered,
    ...(side >= METATILE ? {} : { metatile: [Math.max(1, side), Math.max(1, side)] }),
    ...(filters.length === 0 ? {} : { parameterFilters: filters }),
    ...(legends.length === 0 ? {} : { legends }),
    ...(layer.queryable ? { queryable: true } : {}),
  };
}

/**
 * Returns a parameter filter for the styles, if there are several, and one for each dimension. A dimension with a list
 * of values gets the list; one with intervals gets an expression of the characters that a value may have.
 */
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

/** Returns the legends of the layer's named styles, and of the WMS's first style as the default. */
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
              // A GetLegendGraphic needs no address: the server asks the WMS, whose own address may be private.
              ...(isLegendGraphic(legend.url) ? {} : { url: legend.url }),
            },
          ],
    );
}

function isLegendGraphic(url: string): boolean {
  const request = [...new URL(url).searchParams].find(([key]) => key.toLowerCase() === "request")?.[1] ?? "";
  return request.toLowerCase() === "getlegendgraphic";
}
