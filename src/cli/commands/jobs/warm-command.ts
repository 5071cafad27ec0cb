import { statSync } from "node:fs";
import { fileFault } from "../../../lib/file/file-fault.ts";
import { quotaBytes } from "../../../quota/quota-bytes.ts";
import { type Answer, type AnswerFlags, parseAnswer, print, serverCommand } from "../../client/answer.ts";
import { type FollowFlags, printMade } from "../../client/follow-job.ts";
import { type CatalogueAnswer, remoteCatalogue } from "../../client/remote-catalogue.ts";
import { requestOnce } from "../../client/request-once.ts";
import { ServerClient } from "../../client/server-client.ts";
import { CommandFailure, EXIT } from "../../exit.ts";
import { progressLine } from "../../output/progress-line.ts";
import { bytesText, durationText, factList, parametersText, textTable } from "../../output/text-table.ts";
import { TileUse, type UsedTile, usedTileSet } from "../import/tile-use.ts";
import { logLines } from "../server/log-lines.ts";
import { parseSize, parseWhole, threadsOption, waitOption } from "../shared-options.ts";
import { planWarm, type TileCost, type WarmJob, type WarmPlan } from "./warm-plan.ts";

/** The limit of `--max-tiles`, and its default if no other budget is given. */
const MOST_TILES = 1_000_000;
const TILES_BY_DEFAULT = 100_000;
/** Tiles that are counted per tile that may be selected. Rare tiles displace one another among the surplus. */
const COUNTED_PER_TILE = 2;
const LEAST_COUNTED = 200_000;
/** The most tile sets for which the command requests an estimate. */
const MOST_REQUESTED = 1000;
const PROGRESS_MS = { terminal: 1_000, log: 10_000 };

interface WarmFlags extends FollowFlags {
  readonly maxTiles?: number;
  readonly maxBytes?: number;
  readonly maxMinutes?: number;
  readonly failed?: boolean;
  readonly threads?: number;
  readonly dryRun?: boolean;
}

/** `nuthatch warm FILE…`: seeds the tiles that were requested most according to access logs. */
export function warmCommand() {
  return serverCommand("warm", "seeds the tiles that were requested most, by access logs of nginx or Apache")
    .argument("[file...]", "logs in the common or combined format, gzip or not; - (or none): standard input")
    .option(
      "--max-tiles <n>",
      `the most tiles (${TILES_BY_DEFAULT}, if nothing else limits them)`,
      parseWhole(1, MOST_TILES),
    )
    .option("--max-bytes <size>", "the most bytes, such as 5GiB, at the mean size of stored tiles", (text) =>
      Number(quotaBytes(parseSize(text))),
    )
    .option("--max-minutes <n>", "the most time, at the rate of each layer's last jobs", parseWhole(1, 1_000_000))
    .option("--failed", "count failed requests too (400 and above)")
    .option("--dry-run", "create no job, but show what would be done")
    .addOption(threadsOption("each job"))
    .addOption(waitOption("the jobs have", "the worst outcome"))
    .action(async (files: readonly string[], flags: WarmFlags) => {
      const client = new ServerClient(flags);
      const answer: CatalogueAnswer = JSON.parse(await client.request("GET", "/api/v1/layers"));
      const hasOther = flags.maxBytes !== undefined || flags.maxMinutes !== undefined;
      const maxTiles = flags.maxTiles ?? (hasOther ? MOST_TILES : TILES_BY_DEFAULT);
      const use = new TileUse(remoteCatalogue(answer), {
        most: Math.max(LEAST_COUNTED, COUNTED_PER_TILE * maxTiles),
        countsFailed: flags.failed === true,
      });
      for (const file of files.length === 0 ? ["-"] : files)
        await readLog(file, use).catch((error: unknown) => {
          throw new CommandFailure(`${file}: ${fileFault(error)}`, EXIT.failure);
        });
      // One tile more than the budget shows whether the budget is the limit.
      const used = use.top(maxTiles + 1);
      const isCostKnown = hasOther || flags.dryRun === true;
      const costs = isCostKnown ? await costsOf(used, client) : new Map<string, TileCost>();
      const plan = planWarm(used, { maxTiles, maxBytes: flags.maxBytes, maxSeconds: secondsOf(flags) }, costs);
      checkKnown(plan, flags);
      if (flags.dryRun === true) return printPlan(plan, use, flags);
      if (flags.json !== true) print(`${linesText(use)}\n`);
      await make(plan, flags, client);
    });
}

const secondsOf = ({ maxMinutes }: WarmFlags): number | undefined =>
  maxMinutes === undefined ? undefined : maxMinutes * 60;

/** Throws if a budget is given but no tile's cost is known: such a budget would limit nothing. */
function checkKnown({ jobs, limitedBy, bytes, seconds }: WarmPlan, { maxBytes, maxMinutes }: WarmFlags): void {
  if (jobs.length === 0 && limitedBy === null) return;
  if (maxBytes !== undefined && bytes === undefined)
    throw new CommandFailure(
      "--max-bytes: none of these tiles is stored, so their size is unknown; use --max-tiles",
      EXIT.failure,
    );
  if (maxMinutes !== undefined && seconds === undefined)
    throw new CommandFailure(
      "--max-minutes: no job has rendered any of these layers, so their rate is unknown; use --max-tiles",
      EXIT.failure,
    );
}

/** Counts the requests in a log and shows the progress on stderr. */
async function readLog(file: string, use: TileUse): Promise<void> {
  const line = progressLine();
  const everyMs = process.stderr.isTTY ? PROGRESS_MS.terminal : PROGRESS_MS.log;
  const size = file === "-" ? undefined : statSync(file, { throwIfNoEntry: false })?.size;
  let read = 0;
  let reportedMs = performance.now();
  for await (const lines of logLines(file, (bytes) => {
    read += bytes;
  })) {
    use.add(lines);
    if (performance.now() - reportedMs < everyMs) continue;
    reportedMs = performance.now();
    const share = size === undefined || size === 0 ? "" : ` (${Math.floor((100 * read) / size)} %)`;
    line.show(`${file}: ${bytesText(read)}${share}, ${use.counts.lines} lines, ${use.counts.tiles} for tiles`);
  }
  line.close();
}

/** Returns the cost of a tile of each tile set, from the server's estimate for one of its tiles. */
async function costsOf(used: readonly UsedTile[], client: ServerClient): Promise<ReadonlyMap<string, TileCost>> {
  const first = new Map<string, string>();
  for (const { tileSet, tile } of used)
    if (!first.has(tileSet) && first.size < MOST_REQUESTED) first.set(tileSet, tile);
  const costs = new Map<string, TileCost>();
  for (const [tileSet, tile] of first) {
    const document = { ...usedTileSet(tileSet), type: "reseed", tiles: [tile] };
    const text = await client.request("POST", "/api/v1/estimate", { document });
    const { bytes, tilesPerSecond }: Answer<"Estimate"> = parseAnswer(text);
    costs.set(tileSet, {
      bytes: bytes === null ? undefined : Number(bytes),
      seconds: tilesPerSecond === null || tilesPerSecond === 0 ? undefined : 1 / tilesPerSecond,
    });
  }
  return costs;
}

async function make({ jobs }: WarmPlan, flags: WarmFlags, client: ServerClient): Promise<void> {
  const made: string[] = [];
  for (const { requests: _, ...job } of jobs) {
    // No confirmation is needed: the budget already limits the size.
    const request = { ...job, type: "seed", threadCount: flags.threads, confirm: true };
    const text = await requestOnce(client, "/api/v1/jobs", {}, request).catch((error: unknown) => {
      if (!(error instanceof CommandFailure)) throw error;
      const message = `${made.length} of ${jobs.length} jobs were made, then ${error.message}`;
      throw new CommandFailure(message, error.exitCode);
    });
    made.push(text.trim());
  }
  if (jobs.length === 0 && flags.json !== true) return print("There is nothing to warm.\n");
  await printMade(`{"jobs":[${made.join(",")}]}`, flags, client);
}

function linesText({ counts, shortBy }: TileUse): string {
  return factList([
    ["lines", `${counts.lines}: ${counts.tiles} for tiles, ${counts.others} for something else`],
    ["failed", counts.failed === 0 ? undefined : `${counts.failed} for tiles, not counted`],
    ["not understood", counts.notUnderstood === 0 ? undefined : String(counts.notUnderstood)],
    ["counts", shortBy === 0 ? undefined : `may be short by ${shortBy}, as there are too many tiles to count each`],
  ]);
}

const LIMITS = {
  tiles: "--max-tiles",
  bytes: "--max-bytes",
  minutes: "--max-minutes",
  jobs: "the number of jobs: too many tile sets are in use",
} as const;

function printPlan(plan: WarmPlan, use: TileUse, { json }: AnswerFlags): void {
  const { jobs, tiles, requests, bytes, seconds, limitedBy } = plan;
  if (json === true) {
    const listed = jobs.map(({ tiles: names, ...job }) => ({ ...job, tiles: names.length }));
    const sums = { tiles, requests, bytes: bytes ?? null, seconds: seconds ?? null, limitedBy };
    print(`${JSON.stringify({ log: { ...use.counts, shortBy: use.shortBy }, ...sums, jobs: listed })}\n`);
    return;
  }
  const share = use.counts.tiles === 0 ? 0 : (100 * requests) / use.counts.tiles;
  const facts = factList([
    ["tiles", `${tiles}, requested ${requests} times (${share.toFixed(1)} % of all)`],
    ["bytes", bytes === undefined ? undefined : `about ${bytesText(bytes)}, if none is stored`],
    ["time", seconds === undefined ? undefined : `about ${durationText(seconds)}, if none is stored`],
    ["limited by", limitedBy === null ? undefined : LIMITS[limitedBy]],
  ]);
  print(`${linesText(use)}${facts}${jobs.length === 0 ? "" : `\n${jobTable(jobs)}`}`);
}

const jobTable = (jobs: readonly WarmJob[]): string =>
  textTable(
    ["layer", "grid set", "format", "parameters", "tiles", "requests"],
    jobs.map(({ layer, gridSet, format, parameters, tiles, requests }) => [
      layer,
      gridSet,
      format,
      parametersText(parameters),
      String(tiles.length),
      String(requests),
    ]),
  );
