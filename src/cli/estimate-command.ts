import type { Command } from "commander";
import { type AnswerFlags, askingCommand, type Count, NONE, tell } from "./answer.ts";
import {
  addAgeFlags,
  addRangeFlags,
  type ChoiceFlags,
  choiceFields,
  type RangeFlags,
  rangeFields,
} from "./range-flags.ts";
import { ServerClient } from "./server-client.ts";
import { bytesText, durationText, factList, textTable } from "./text-table.ts";

interface Counts {
  readonly tiles: Count;
  readonly kept: Count | null;
  readonly missing: Count | null;
}
interface EstimateAnswer extends Counts {
  readonly bytes: Count | null;
  readonly fitsQuota: boolean | null;
  readonly fitsDisk: boolean | null;
  readonly tilesPerSecond: number | null;
  readonly seconds: number | null;
  readonly zooms: readonly (Counts & { readonly z: number })[];
}

const UNKNOWN = "not known";
const fitText = (fits: boolean | null): string | undefined =>
  fits === null ? undefined : fits ? "fits" : "does not fit";

function showEstimate({
  tiles,
  kept,
  missing,
  bytes,
  seconds,
  tilesPerSecond,
  zooms,
  ...fits
}: EstimateAnswer): string {
  const facts = factList([
    ["tiles", String(tiles)],
    ["kept", kept === null ? UNKNOWN : `${kept}, ${missing} missing`],
    ["bytes", bytes === null ? `${UNKNOWN}: nothing is kept to judge by` : `about ${bytesText(Number(bytes))}`],
    ["quota", fitText(fits.fitsQuota)],
    ["disk", fitText(fits.fitsDisk)],
    [
      "time",
      seconds === null
        ? `${UNKNOWN}: no job has drawn it`
        : `about ${durationText(seconds)} at ${tilesPerSecond} tiles/s`,
    ],
  ]);
  const rows = zooms.map((zoom) => [zoom.z, zoom.tiles, zoom.kept ?? "", zoom.missing ?? ""].map(String));
  return `${facts}\n${textTable(["zoom", "tiles", "kept", "missing"], rows)}`;
}

/** `nuthatch estimate LAYER`: what a seed or reseed would come to. */
export function estimateCommand(): Command {
  const command = askingCommand("estimate", "tiles, bytes and time that a seed would take").argument("<layer>");
  return addAgeFlags(addRangeFlags(command).option("--reseed", "of a reseed, which draws what is kept too")).action(
    async (layer: string, flags: RangeFlags & ChoiceFlags & AnswerFlags & { reseed?: boolean }) => {
      const type = flags.reseed === true ? "reseed" : "seed";
      const request = { layer, type, ...rangeFields(flags), ...choiceFields(flags) };
      tell(await new ServerClient(flags).ask("POST", "/api/v1/estimate", NONE, request), flags, showEstimate);
    },
  );
}
