import { type Command, Option } from "commander";
import { defined } from "../../../lib/defined.ts";
import type { AnswerFlags, Count, Received } from "../../client/answer.ts";
import { selectionText } from "../../output/job-text.ts";
import { bytesText, durationText, factList, textTable } from "../../output/text-table.ts";
import { requestAndPrint, serverCommand } from "../server-command.ts";
import {
  addFieldFlags,
  addRangeFlags,
  type JobFlags,
  jobRequest,
  LAYERS,
  layerFields,
  rangeFields,
} from "./job-flags.ts";

const UNKNOWN = "not known";
const fitText = (fits: boolean | null): string | undefined =>
  fits === null ? undefined : fits ? "fits" : "does not fit";

const bytesOf = (bytes: Count | null): string =>
  bytes === null ? `${UNKNOWN}: no stored tile to estimate it from` : `about ${bytesText(bytes)}`;

type Sum = Omit<Received<"Estimates">, "jobs">;

const sumText = (
  { tiles, kept, missing, bytes, bytesOnDisk, inodes, seconds, fitsQuota, fitsDisk, fitsInodes }: Sum,
  rate: string,
): string =>
  factList([
    ["tiles", String(tiles)],
    ["kept", kept === null ? UNKNOWN : `${kept}, ${missing} missing`],
    ["bytes", bytesOf(bytes)],
    ["on disk", `${bytes === null ? "at least" : "about"} ${bytesText(bytesOnDisk)}, ${inodes} new files`],
    ["quota", fitText(fitsQuota)],
    ["disk", fitText(fitsDisk)],
    ["inodes", fitText(fitsInodes)],
    ["time", seconds === null ? `${UNKNOWN}: no job has rendered it` : `about ${durationText(seconds)}${rate}`],
  ]);

/** Formats the tiles and bytes that a truncate would free. */
function showFreed(answer: Received<"Estimate"> | Received<"Estimates">): string {
  const { tiles, kept, bytes, bytesOnDisk } = answer;
  const counted = kept === null ? " so far: the layer is still being counted" : "";
  const freed = factList([
    ["tiles", `${tiles}${counted}`],
    ["bytes", bytesOf(bytes)],
    ["frees", `${bytesText(bytesOnDisk)} on disk, ${answer.inodes} files`],
  ]);
  if ("jobs" in answer) return freed;
  const rows = answer.zooms.map((zoom) => [String(zoom.z), String(zoom.tiles)]);
  return `${freed}\n${textTable(["zoom", "tiles"], rows)}`;
}

function showEstimate(answer: Received<"Estimate"> | Received<"Estimates">): string {
  if ("jobs" in answer) return showEstimates(answer);
  const rows = answer.zooms.map((zoom) => [zoom.z, zoom.tiles, zoom.kept ?? "", zoom.missing ?? ""].map(String));
  return `${sumText(answer, ` at ${answer.tilesPerSecond} tiles/s`)}\n${textTable(["zoom", "tiles", "kept", "missing"], rows)}`;
}

function showEstimates(answer: Received<"Estimates">): string {
  const rows = answer.jobs.map((job) => [
    job.layer,
    job.gridSet ?? "",
    job.format ?? "",
    selectionText(job),
    String(job.tiles),
    String(job.missing ?? ""),
    job.bytes === null ? "" : bytesText(job.bytes),
    bytesText(job.bytesOnDisk),
    job.seconds === null ? "" : durationText(job.seconds),
  ]);
  const head = ["layer", "grid set", "format", "parameters", "tiles", "missing", "bytes", "on disk", "time"];
  return `${sumText(answer, ", one job after the other")}\n${textTable(head, rows)}`;
}

interface EstimateFlags extends JobFlags, AnswerFlags {
  readonly reseed?: boolean;
  readonly truncate?: boolean;
}

/** Returns the request that `nuthatch truncate` would send with the same flags. */
function truncateRequest(layers: readonly string[], flags: JobFlags) {
  const range = defined(rangeFields(flags));
  const all = { gridSets: "*", formats: "*", parameterSets: "*" };
  return { ...layerFields(layers), type: "truncate", ...(Object.keys(range).length > 0 ? range : all) };
}

/**
 * `nuthatch estimate LAYER`: estimates the tiles, size and time of a seed or reseed, or the space that a truncate
 * frees.
 */
export function estimateCommand(): Command {
  const command = serverCommand("estimate", "estimates the tiles, bytes, disk space and time of a seed").argument(
    "<layer...>",
    LAYERS,
  );
  addRangeFlags(command)
    .option("--reseed", "estimate a reseed, which renders stored tiles too")
    .addOption(new Option("--truncate", "show what a truncate would free").conflicts("reseed"));
  return addFieldFlags(command, "reseeds").action((layers: readonly string[], flags: EstimateFlags) => {
    const document =
      flags.truncate === true
        ? truncateRequest(layers, flags)
        : jobRequest(flags.reseed === true ? "reseed" : "seed", layers, flags);
    const show = flags.truncate === true ? showFreed : showEstimate;
    return requestAndPrint(flags, show, "POST", "/api/v1/estimate", { document });
  });
}
