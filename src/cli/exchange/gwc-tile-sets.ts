import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { isMap } from "../../lib/is-map.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { SqliteReadError, SqliteReader } from "../../source/archive/sqlite-reader.ts";
import { blobOf } from "./blob.ts";
import { inPath } from "./mbtiles-file.ts";

/** The parts of a layer that are used in names of directories. */
interface NamedLayer {
  readonly name: string;
  readonly gridSets: readonly { readonly gridSet: string }[];
  readonly formats: readonly string[];
}

/** A tile set of GeoWebCache's MBTiles store. */
export interface GwcTileSet {
  /** The directory with its files. */
  readonly path: string;
  readonly layer: string;
  readonly gridSet: string;
  readonly format: string;
  /** The parameters. Empty for the defaults. */
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * A directory that is skipped, and the reason: it is not a tile set of the server's layers, or its parameters are
 * unknown.
 */
export interface SkippedDirectory {
  readonly path: string;
  readonly reason: string;
}

/** The database in the root of the store with the parameters for each parameters id. */
const METADATA = "metadata.sqlite";
const PARAMETERS = "SELECT CAST(value AS BLOB) AS value FROM metadata WHERE layerName = ? AND key = ?";

/**
 * Returns the tile sets in the root of GeoWebCache's MBTiles store: directories `{layer}/{grid}{format}{params}` of a
 * server's layers. Also returns the other directories.
 */
export async function gwcTileSetsIn(
  clock: Clock,
  root: string,
  layers: readonly NamedLayer[],
): Promise<{ readonly tileSets: readonly GwcTileSet[]; readonly skipped: readonly SkippedDirectory[] }> {
  const tileSets: GwcTileSet[] = [];
  const skipped: SkippedDirectory[] = [];
  const byDirectory = new Map(layers.map((layer) => [inPath(layer.name), layer]));
  for (const directory of directoriesIn(root)) {
    const layer = byDirectory.get(directory);
    if (layer === undefined) {
      skipped.push({ path: join(root, directory), reason: "the server has no layer of this name" });
      continue;
    }
    for (const name of directoriesIn(join(root, directory))) {
      const path = join(root, directory, name);
      const found = nameOf(layer, name);
      const parameters =
        found?.parametersId === "" ? {} : found && (await parametersOf(clock, root, layer.name, found.parametersId));
      if (found === undefined) skipped.push({ path, reason: `${layer.name} has no such grid set and format` });
      else if (parameters === undefined)
        skipped.push({ path, reason: `${join(root, METADATA)} has no parameters with this id` });
      else tileSets.push({ path, layer: layer.name, gridSet: found.gridSet, format: found.format, parameters });
    }
  }
  return { tileSets, skipped };
}

/** Parses the name of a tile set's directory. Undefined if the name does not belong to the layer. */
function nameOf({ gridSets, formats }: NamedLayer, name: string) {
  for (const { gridSet } of gridSets)
    for (const format of formats) {
      const prefix = `${inPath(gridSet)}${inPath(format)}`;
      const rest = name.startsWith(prefix) ? name.slice(prefix.length) : "";
      if (rest === "null" || /^[0-9a-f]{40}$/.test(rest))
        return { gridSet, format, parametersId: rest === "null" ? "" : rest };
    }
  return undefined;
}

/** Returns the parameters of a parameters id, which GeoWebCache stores as `KEY=value&…`. Undefined if it has none. */
async function parametersOf(
  clock: Clock,
  root: string,
  layer: string,
  id: string,
): Promise<Readonly<Record<string, string>> | undefined> {
  const file = join(root, METADATA);
  if (!existsSync(file)) return undefined;
  try {
    await using reader = await SqliteReader.open(clock, file, PARAMETERS);
    const row = await reader.first(PARAMETERS, [layer, `parameters.${id}`]);
    const value = isMap(row) ? blobOf(row["value"]) : undefined;
    if (value === undefined) return undefined;
    const text = Buffer.from(value).toString("utf8");
    return Object.fromEntries(new URLSearchParams(text.replace(/^\?/, "")));
  } catch (error) {
    if (!(error instanceof SqliteReadError)) throw error;
    // The database has another purpose, or is damaged: the tile set is skipped with the reason.
    return undefined;
  }
}

const directoriesIn = (path: string): readonly string[] =>
  readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
