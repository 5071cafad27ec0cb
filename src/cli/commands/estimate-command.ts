import type { Command } from "commander";
import { type Answer, type AnswerFlags, type Count, requestAndPrint, serverCommand } from "../client/answer.ts";
import { selectionText } from "../output/job-text.ts";
import { bytesText, durationText, factList, textTable } from "../output/text-table.ts";
import { addFieldFlags, addRangeFlags, type JobFlags, jobRequest, LAYERS } from "./job-flags.ts";

const UNKNOWN = "not known";
const fitText = (fits: boolean | null): string | undefined =>
  fits === null ? undefined : fits ? "fits" : "does not fit";

const bytesOf = (bytes: Count | null): string =>
  bytes === null ? `${UNKNOWN}: nothing is kept to judge by` : `about ${bytesText(bytes)}`;

function sumText(
  { tiles, kept, missing, bytes, seconds, fitsQuota, fitsDisk }: Omit<Answer<"Estimates">, "jobs">,
  rate: string,
): string {
  return factList([
    ["tiles", String(tiles)],
    ["kept", kept === null ? UNKNOWN : `${kept}, ${missing} missing`],
    ["bytes", bytesOf(bytes)],
    ["quota", fitText(fitsQuota)],
    ["disk", fitText(fitsDisk)],
    ["time", seconds === null ? `${UNKNOWN}: no job has rendered it` : `about ${durationText(seconds)}${rate}`],
  ]);
}

function showEstimate(answer: Answer<"Estimate"> | Answer<"Estimates">): string {
  if ("jobs" in answer) return showEstimates(answer);
  const rows = answer.zooms.map((zoom) => [zoom.z, zoom.tiles, zoom.kept ?? "", zoom.missing ?? ""].map(String));
  return `${sumText(answer, ` at ${answer.tilesPerSecond} tiles/s`)}\n${textTable(["zoom", "tiles", "kept", "missing"], rows)}`;
}

function showEstimates(answer: Answer<"Estimates">): string {
  const rows = answer.jobs.map((job) => [
    job.layer,
    job.gridSet ?? "",
    job.format ?? "",
    selectionText(job),
    String(job.tiles),
    String(job.missing ?? ""),
    job.bytes === null ? "" : bytesText(job.bytes),
    job.seconds === null ? "" : durationText(job.seconds),
  ]);
  const head = ["layer", "grid set", "format", "parameters", "tiles", "missing", "bytes", "time"];
  return `${sumText(answer, ", one job after the other")}\n${textTable(head, rows)}`;
}

/** `nuthatch estimate LAYER`: estimates the tiles, bytes and time of a seed or reseed. */
export function estimateCommand(): Command {
  const command = serverCommand("estimate", "estimates the tiles, bytes and time of a seed").argument(
    "<layer...>",
    LAYERS,
  );
  addRangeFlags(command).option("--reseed", "estimate a reseed, which renders stored tiles too");
  return addFieldFlags(command, "reseeds").action(
    (layers: readonly string[], flags: JobFlags & AnswerFlags & { reseed?: boolean }) => {
      const document = jobRequest(flags.reseed === true ? "reseed" : "seed", layers, flags);
      return requestAndPrint(flags, showEstimate, "POST", "/api/v1/estimate", { document });
    },
  );
}
