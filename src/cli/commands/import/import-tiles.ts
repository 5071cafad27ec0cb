import { statSync } from "node:fs";
import { asTileY } from "../../../grid/grid-set.ts";
import { formatOf, formatOfExtension, type TileFormat } from "../../../layer/format.ts";
import type { OfferedTiles } from "../../../layer/layer.ts";
import { defined } from "../../../lib/defined.ts";
import { errorMessage } from "../../../lib/error-code.ts";
import { machineClock } from "../../../lib/time/machine-clock.ts";
import { type AnswerFlags, print, requestAnswer } from "../../client/answer.ts";
import { isWebGrid } from "../../exchange/archive-fault.ts";
import { gwcTileSetsIn } from "../../exchange/gwc-tile-sets.ts";
import { type MbtilesTile, mbtilesFilesAt, openMbtilesFile } from "../../exchange/mbtiles-file.ts";
import { type PlannedRange, plannedRange } from "../../exchange/planned-range.ts";
import { remoteTileSet } from "../../exchange/remote-tile-set.ts";
import { type ImportResult, MOST_REASONS, TileBatches } from "../../exchange/tile-batches.ts";
import { CommandFailure, EXIT } from "../../exit.ts";
import { Interruption } from "../../interruption.ts";
import { progressLine } from "../../output/progress-line.ts";
import { tileProgress } from "../../output/tile-progress.ts";
import { type RangeFlags, rangeFields } from "../jobs/job-flags.ts";
import { connect } from "../server-command.ts";

export interface ImportTilesFlags extends RangeFlags, AnswerFlags {
  readonly keep?: boolean;
}

/** The counts of tiles that were read and not sent. */
interface Read {
  tiles: number;
  bytes: number;
  /** Tiles outside of the range or of the layer's coverage. */
  outside: number;
}

/** `nuthatch import DIR`: stores the tiles of GeoWebCache's MBTiles store in the layers of a server. */
export async function importTileSets(root: string, flags: ImportTilesFlags): Promise<void> {
  if (!statSync(root).isDirectory())
    throw new CommandFailure(`name the layer that gets the tiles of ${root}: nuthatch import FILE LAYER`, EXIT.usage);
  if (flags.gridSet !== undefined || flags.format !== undefined || flags.parameter !== undefined)
    throw new CommandFailure("--grid-set, --format and --parameter select tiles of one layer: name it", EXIT.usage);
  const { layers } = await requestAnswer<"Layers">(connect(flags), "/api/v1/layers");
  const { tileSets, skipped } = await gwcTileSetsIn(machineClock, root, layers);
  for (const { path, reason } of skipped) process.stderr.write(`warning: ${path} is left out: ${reason}\n`);
  if (tileSets.length === 0) throw new CommandFailure(`${root} has no tile set of a layer of the server`, EXIT.failure);
  for (const { path, layer, gridSet, format, parameters } of tileSets) {
    const parameter = Object.entries(parameters).map(([key, choice]) => ({ key, choice }));
    const own = { ...flags, gridSet: [gridSet], format: [format], ...(parameter.length === 0 ? {} : { parameter }) };
    if ((await importTiles(path, layer, own)) === "interrupted") return;
  }
}

/** `nuthatch import FILE LAYER`: stores the tiles of an MBTiles file in a layer of a server. */
export async function importTiles(
  path: string,
  name: string,
  flags: ImportTilesFlags,
): Promise<"ended" | "interrupted"> {
  using interruption = new Interruption();
  const { signal } = interruption;
  const client = connect(flags, { signal });
  const line = progressLine();
  const read: Read = { tiles: 0, bytes: 0, outside: 0 };
  let batches: TileBatches | undefined;
  let why: string;
  try {
    const tileSet = await remoteTileSet(client, name, flags, (formats) => formatIn(path, formats));
    const document = documentOf(name, tileSet, flags);
    const range = plannedRange(document, tileSet.layer, client.clock.now());
    const files = filesAt(path, tileSet, range);
    const { layer, gridSet, format, parameters } = document;
    const query = { layer, gridSet, format, ...parameters, existing: flags.keep === true ? "keep" : "replace" };
    batches = new TileBatches({ client, query, report: (text) => line.show(text), signal });
    const show = tileProgress(line, await countOf(files), client.clock);
    for (const file of files) {
      await using archive = await openMbtilesFile(machineClock, file);
      for await (const tile of archive.tiles()) {
        signal.throwIfAborted();
        await take(tile, { batches, range, tileSet, read });
        show(read.tiles, read.bytes);
      }
    }
    await batches.end();
    line.close();
    report(batches.result, read, { path, layer: name, json: flags.json === true });
    return "ended";
  } catch (error) {
    if (batches === undefined && !signal.aborted) throw error;
    why = signal.aborted ? "the import was interrupted" : errorMessage(error);
  } finally {
    line.close();
  }
  const { stored = 0 } = batches?.result ?? {};
  const message = `${why}; ${stored} tiles were stored before, and the same command with --keep stores the remaining tiles`;
  if (!signal.aborted) throw new CommandFailure(message, EXIT.failure);
  // The program ends when this function returns.
  process.stderr.write(`nuthatch: ${message}\n`);
  return "interrupted";
}

/** Sends one tile, or counts why it is not sent. */
async function take(
  { z, x, row, bytes }: MbtilesTile,
  {
    batches,
    range,
    tileSet: { subset },
    read,
  }: {
    readonly batches: TileBatches;
    readonly range: PlannedRange;
    readonly tileSet: OfferedTiles;
    readonly read: Read;
  },
): Promise<void> {
  read.tiles++;
  read.bytes += bytes?.byteLength ?? 0;
  const height = subset.gridSet.matrices[z]?.matrixHeight ?? 0;
  const tile = `${z}/${x}/${height - 1 - row}`;
  if (!range.holds(z, x, asTileY(row))) read.outside++;
  else if (bytes === undefined) batches.refuse(tile, "the tile has no bytes, or too many");
  else await batches.add({ name: tile, bytes });
}

function documentOf(layer: string, { subset, format }: OfferedTiles, flags: ImportTilesFlags) {
  const { parameter = [], ...range } = flags;
  const parameters: Record<string, string> = {};
  for (const { key, choice } of parameter) if (typeof choice === "string") parameters[key] = choice;
  return {
    ...defined(rangeFields(range)),
    layer,
    gridSet: subset.gridSet.id,
    format: format.mimeType,
    parameters,
  };
}

/** Returns the format that a file's metadata names. Without one, returns the layer's first format. */
async function formatIn(path: string, formats: readonly TileFormat[]): Promise<TileFormat | undefined> {
  if (statSync(path).isDirectory()) return formats[0];
  await using archive = await openMbtilesFile(machineClock, path);
  const name = (await archive.format())?.toLowerCase();
  if (name === undefined) return formats[0];
  const format = formatOfExtension(name) ?? formatOf(name);
  const found = formats.find(
    (known) => known.mimeType === format?.mimeType || (known.contentType ?? "") === format?.contentType,
  );
  if (found !== undefined) return found;
  const known = formats.map(({ mimeType }) => mimeType).join(", ");
  throw new CommandFailure(
    `the tiles of ${path} are ${JSON.stringify(name)}, the layer has ${known}: nothing was stored`,
    EXIT.usage,
  );
}

function filesAt(path: string, { layer, subset, format }: OfferedTiles, { request }: PlannedRange): readonly string[] {
  const { gridSet } = subset;
  const names = {
    layer: layer.name,
    gridSet: gridSet.id,
    format: format.mimeType,
    parametersId: request.parametersId ?? "",
  };
  const files = mbtilesFilesAt(path, names);
  // GeoWebCache counts rows from the bottom in any grid set. Other programs use only web mercator.
  if (files[0] === path && !isWebGrid(gridSet, subset.zoomStop))
    throw new CommandFailure(
      `MBTiles has only web mercator in tiles of 256 x 256, unlike the grid set ${gridSet.id}: name another grid set with --grid-set, or a directory of GeoWebCache`,
      EXIT.usage,
    );
  return files;
}

async function countOf(files: readonly string[]): Promise<number | undefined> {
  // Counting the tiles of thousands of files takes longer than the number is worth.
  if (files.length > 1) return undefined;
  let count = 0;
  for (const file of files) {
    await using archive = await openMbtilesFile(machineClock, file);
    count += await archive.count();
  }
  return count;
}

function report(
  { stored, unchanged, kept, refused, reasons }: ImportResult,
  { tiles, outside }: Read,
  { path, layer, json }: { readonly path: string; readonly layer: string; readonly json: boolean },
): void {
  if (json)
    print(`${JSON.stringify({ layer, from: path, tiles, stored, unchanged, kept, refused, outside, reasons })}\n`);
  else {
    for (const { tile, reason } of reasons) process.stderr.write(`warning: ${tile}: ${reason}\n`);
    if (refused > reasons.length) process.stderr.write(`warning: and ${refused - MOST_REASONS} more\n`);
    const counts = [
      `${stored} stored`,
      ...(unchanged > 0 ? [`${unchanged} unchanged`] : []),
      ...(kept > 0 ? [`${kept} kept`] : []),
      ...(outside > 0 ? [`${outside} outside`] : []),
      ...(refused > 0 ? [`${refused} refused`] : []),
    ];
    print(`${path}: ${tiles} tiles; of ${layer}: ${counts.join(", ")}\n`);
  }
  if (refused > 0) process.exitCode = EXIT.failedTiles;
}
