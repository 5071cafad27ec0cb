import { existsSync } from "node:fs";
import { type Command, Option } from "commander";
import type { OfferedTiles } from "../../../layer/layer.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import { type AnswerFlags, parseAnswer, print } from "../../client/answer.ts";
import { type ServerClient, ServerRefusal } from "../../client/server-client.ts";
import { requireArchivable } from "../../exchange/archive-fault.ts";
import { directoryTarget, LAYOUTS, type Layout } from "../../exchange/directory-target.ts";
import { exportFacts } from "../../exchange/export-facts.ts";
import { type ExportProgress, type ExportTarget, NOTHING_DONE, progressAfter } from "../../exchange/export-target.ts";
import { mbtilesTarget } from "../../exchange/mbtiles-target.ts";
import { pmtilesTarget } from "../../exchange/pmtiles-target.ts";
import { remoteTileSet } from "../../exchange/remote-tile-set.ts";
import { exportTilesOf, tilePages } from "../../exchange/tile-pages.ts";
import { CommandFailure, EXIT } from "../../exit.ts";
import { GROUPS } from "../../help-groups.ts";
import { Interruption } from "../../interruption.ts";
import { requireDirectoryOf } from "../../output/output-directory.ts";
import { type ProgressLine, progressLine } from "../../output/progress-line.ts";
import { bytesText } from "../../output/text-table.ts";
import { tileProgress } from "../../output/tile-progress.ts";
import { addOneTileSetFlags, type RangeFlags, rangeFields } from "../jobs/job-flags.ts";
import { connect, serverCommand } from "../server-command.ts";

const EXAMPLES = `
Examples:
  nuthatch export ws:roads --to roads.mbtiles --zoom 0-14
  nuthatch export ws:roads --to city.pmtiles --area city.geojson --format image/png
  nuthatch export ws:roads --to /srv/tiles --layout tms --grid-set EPSG:2056 --resume`;

interface ExportFlags extends RangeFlags, AnswerFlags {
  readonly to: string;
  readonly layout?: Layout;
  readonly resume?: boolean;
  readonly force?: boolean;
}

/** `nuthatch export LAYER --to FILE`: copies the stored tiles of a layer to an archive or a tree of files. */
export function exportCommand(): Command {
  const command = serverCommand(
    "export",
    "copies the stored tiles of a layer to MBTiles, PMTiles or a directory; renders nothing",
  )
    .argument("<layer>", "the name of a layer")
    .requiredOption("--to <file>", "a name that ends in .mbtiles or .pmtiles, or a directory");
  return addOneTileSetFlags(command)
    .optionsGroup(GROUPS.how)
    .addOption(
      new Option("--layout <layout>", "rows of a directory: slippy counts from the top, tms from the bottom").choices(
        LAYOUTS,
      ),
    )
    .option("--resume", "continue an interrupted export, and keep an unfinished archive for the next attempt")
    .option("--force", "overwrite an existing file, or write into a directory that is not empty")
    .addHelpText("after", EXAMPLES)
    .action(runExport);
}

type TargetKind = "mbtiles" | "pmtiles" | "directory";

const kindOf = (to: string): TargetKind =>
  /\.mbtiles$/i.test(to) ? "mbtiles" : /\.pmtiles$/i.test(to) ? "pmtiles" : "directory";

async function runExport(name: string, flags: ExportFlags): Promise<void> {
  const { to } = flags;
  const kind = kindOf(to);
  if (kind !== "directory" && flags.layout !== undefined)
    throw new CommandFailure("--layout applies only to a directory; an archive has a fixed layout", EXIT.usage);
  if (kind !== "directory" && flags.force !== true && existsSync(to))
    throw new CommandFailure(`${to} already exists: --force overwrites it`, EXIT.failure);
  if (kind !== "directory") requireDirectoryOf(to);
  using interruption = new Interruption();
  const client = connect(flags, { signal: interruption.signal });
  const line = progressLine();
  try {
    const tileSet = await remoteTileSet(client, name, flags);
    const { subset, format } = tileSet;
    const maxZoom = Math.min(flags.zoom?.zoomStop ?? subset.zoomStop, subset.zoomStop);
    if (kind !== "directory") requireArchivable(kind, subset.gridSet, format, maxZoom);
    const document = {
      ...rangeFields(flags),
      layer: name,
      gridSet: subset.gridSet.id,
      format: format.mimeType,
    };
    const target = openTarget(kind, flags, tileSet, JSON.stringify(document), client.clock);
    let unfinished: "keep" | "remove" = flags.resume === true ? "keep" : "remove";
    try {
      const done = await exportInto(target, { client, document, tileSet, line, signal: interruption.signal });
      line.close();
      report(done, name, flags);
    } catch (error) {
      if (error instanceof EmptyExport) unfinished = "remove";
      throw error;
    } finally {
      target.close(unfinished);
    }
  } catch (error) {
    line.close();
    if (!interruption.signal.aborted) throw error;
    const rest = flags.resume === true ? "the same command continues it" : "no unfinished file is left";
    process.stderr.write(
      `The export was interrupted; ${kind === "directory" ? "all written files are complete" : rest}.\n`,
    );
  }
}

class EmptyExport extends CommandFailure {
  override readonly name = "EmptyExport";
}

function openTarget(
  kind: TargetKind,
  { to, layout = "slippy", resume, force }: ExportFlags,
  { subset, format }: OfferedTiles,
  purpose: string,
  clock: Clock,
): ExportTarget {
  const options = { to, format, purpose, isContinued: resume === true };
  switch (kind) {
    case "mbtiles":
      return mbtilesTarget(options);
    case "pmtiles":
      return pmtilesTarget(options, clock);
    case "directory": {
      const rows = (z: number): number => subset.gridSet.matrices[z]?.matrixHeight ?? 0;
      return directoryTarget({ ...options, layout, rows, isForced: force === true });
    }
  }
}

interface Running {
  readonly client: ServerClient;
  readonly document: object;
  readonly tileSet: OfferedTiles;
  readonly line: ProgressLine;
  readonly signal: AbortSignal;
}

/** Copies all pages. Returns the progress, which includes an earlier interrupted export. */
async function exportInto(
  target: ExportTarget,
  { client, document, tileSet, line, signal }: Running,
): Promise<ExportProgress> {
  let progress = target.begun ?? NOTHING_DONE;
  const isOver = target.begun !== undefined && target.begun.after === null && target.begun.tiles > 0;
  const show = tileProgress(line, await storedTiles(client, document), client.clock);
  const source = { client, document, report: (text: string) => line.show(text), signal };
  for await (const page of isOver ? [] : tilePages(source, progress.after)) {
    const tiles = exportTilesOf(page);
    progress = progressAfter(progress, tiles, page);
    target.add(tiles, progress);
    show(progress.tiles, progress.bytes);
    signal.throwIfAborted();
  }
  if (progress.tiles === 0)
    throw new EmptyExport(
      `no tile of ${tileSet.layer.name} is stored in this range; nothing was written`,
      EXIT.failure,
    );
  await target.finish(await exportFacts(client, tileSet, progress), signal);
  return progress;
}

/** Returns the number of stored tiles in the range. Undefined if it is unknown, or too costly to count. */
async function storedTiles(client: ServerClient, document: object): Promise<number | undefined> {
  try {
    const answer: { readonly kept?: number | string | null } = parseAnswer(
      await client.request("POST", "/api/v1/estimate", { document: { ...document, type: "seed" } }),
    );
    return answer.kept === null || answer.kept === undefined ? undefined : Number(answer.kept);
  } catch (error) {
    // The count is only for the progress line.
    if (error instanceof ServerRefusal && error.status >= 422) return undefined;
    throw error;
  }
}

function report({ tiles, bytes, missing, complete }: ExportProgress, layer: string, { to, json }: ExportFlags): void {
  if (json === true) print(`${JSON.stringify({ layer, to, tiles, bytes, missing, complete })}\n`);
  else {
    const lost = missing === 0 ? "" : `; ${missing} were missing in the store`;
    print(`${to}: ${tiles} tiles of ${layer}, ${bytesText(bytes)}${lost}\n`);
  }
  if (!complete) process.stderr.write(`warning: the server is still counting ${layer}: some tiles may be missing\n`);
  if (missing > 0 || !complete) process.exitCode = EXIT.failedTiles;
}
