import type { Command } from "commander";
import type { VerificationView } from "../../ledger/counting/verification-documents.ts";
import { machineClock } from "../../lib/time/machine-clock.ts";
import { sleep } from "../../lib/time/sleep.ts";
import {
  type AnswerFlags,
  type Count,
  print,
  type Received,
  type ReceivedValue,
  requestAndPrint,
  serverCommand,
} from "../client/answer.ts";
import { LONG_LIMIT_MS, retryWhileBusy } from "../client/retry-wait.ts";
import { ServerClient } from "../client/server-client.ts";
import { CommandFailure, EXIT } from "../exit.ts";
import { showQuota } from "../output/quota-text.ts";
import { bytesText, durationText, parametersText, textTable } from "../output/text-table.ts";
import { quotaResetCommand, quotaSetCommand, quotaUnsetCommand } from "./quota-set-command.ts";
import { layerOption } from "./shared-options.ts";

interface VerifyFlags extends AnswerFlags {
  readonly layer?: string;
  readonly repair?: boolean;
}

const PROGRESS_MS = 500;
const shareText = (part: Count, whole: Count | null): string =>
  Number(whole) === 0 ? "" : `${((100 * Number(part)) / Number(whole)).toFixed(1)} %`;

function showUsage(usage: Received<"Usage">): string {
  const { total, quota, trend, disk, enforcement, adoption } = usage;
  const counted = (sum: { readonly bytes: Count; readonly bytesOnDisk: Count }): Count =>
    usage.quotaCount === "content" ? sum.bytes : sum.bytesOnDisk;
  const rows = usage.layers.map((l) => [
    l.layer,
    String(l.tiles),
    bytesText(l.bytes),
    bytesText(l.bytesOnDisk),
    l.quota === null ? "" : bytesText(l.quota),
    shareText(counted(l), l.quota),
    l.complete ? "" : "being counted",
  ]);
  rows.push([
    "all layers",
    String(total.tiles),
    bytesText(total.bytes),
    bytesText(usage.bytesOnDisk),
    quota === null ? "" : bytesText(quota),
    shareText(counted({ ...total, bytesOnDisk: usage.bytesOnDisk }), quota),
    "",
  ]);
  const lines = [textTable(["layer", "tiles", "bytes", "on disk", "quota", "used", ""], rows)];
  for (const set of usage.tileSets ?? []) {
    const name = [
      set.layer,
      set.gridSet,
      set.format,
      set.parameters === null ? set.parametersId : parametersText(set.parameters),
    ];
    lines.push(
      `\n${name.filter((word) => word !== "").join(", ")}: ${set.tiles} tiles, ${bytesText(set.bytes)}, ${bytesText(set.bytesOnDisk)} on disk\n`,
      textTable(
        ["  zoom", "tiles", "bytes", "on disk"],
        set.zooms.map((zoom) => [
          String(zoom.z),
          String(zoom.tiles),
          bytesText(zoom.bytes),
          bytesText(zoom.bytesOnDisk),
        ]),
      ),
    );
  }
  const files = disk.freeInodes === null ? "" : `, and room for ${disk.freeInodes} files`;
  lines.push(`\nThe disk has ${bytesText(disk.freeBytes)} of ${bytesText(disk.totalBytes)} left${files}.\n`);
  if (trend !== null) lines.push(`${trendText(trend)}\n`);
  lines.push(
    `Since the start: ${enforcement.evictedTiles} tiles evicted, ${enforcement.cleanUps} clean-ups, ${enforcement.notStored} renders served and not stored.\n`,
  );
  if (adoption.pyramidsLeft > 0)
    lines.push(
      `An existing cache is being counted: ${adoption.pyramidsLeft} grid sets left, ${adoption.tiles} tiles so far.\n`,
    );
  return lines.join("");
}

function trendText({ bytesPerDay, secondsUntilFull }: NonNullable<Received<"Usage">["trend"]>): string {
  const grows = `Usage ${bytesPerDay < 0 ? "shrinks" : "grows"} by ${bytesText(Math.abs(bytesPerDay))} a day`;
  if (secondsUntilFull === null) return `${grows}.`;
  return `${grows}; the quota is full in ${durationText(secondsUntilFull)}.`;
}

const cellText = ({
  tiles,
  bytes,
  bytesOnDisk,
}: ReceivedValue<VerificationView>["differences"][number]["store"]): string =>
  `${tiles} tiles of ${bytes} bytes (${bytesOnDisk} on the disk)`;

function showDifferences({ differing, differences, tiles }: ReceivedValue<VerificationView>): string {
  if (differing === 0) return `${tiles} tiles: the records and the store agree.\n`;
  const lines = differences.map(({ tileSet, rect, ledger, store }) => {
    const where = [tileSet.layer, tileSet.gridSet, tileSet.format, tileSet.parametersId].filter((word) => word !== "");
    return `${where.join(", ")}: zoom ${rect.z}, x ${rect.minX}-${rect.maxX}, y ${rect.minY}-${rect.maxY}: recorded ${cellText(ledger)}, found ${cellText(store)}\n`;
  });
  const more = differing - differences.length;
  return `${lines.join("")}${more > 0 ? `and ${more} more\n` : ""}${tiles} tiles: the records and the store differ in ${differing} cells.\n`;
}

async function verify(client: ServerClient, { layer, repair }: VerifyFlags): Promise<ReceivedValue<VerificationView>> {
  const path = "/api/v1/usage/verification";
  await client.request("POST", path, { query: { layer, repair } });
  const interrupted = new AbortController();
  const interrupt = (): void => interrupted.abort();
  const report = (text: string): void => void process.stderr.write(`${text}\n`);
  process.once("SIGINT", interrupt);
  try {
    for (;;) {
      const answer = retryWhileBusy(() => client.request("GET", path), report, undefined, LONG_LIMIT_MS);
      const now: ReceivedValue<VerificationView> = JSON.parse(await answer);
      if (now.state !== "running") return now;
      if (interrupted.signal.aborted) await client.request("DELETE", path);
      if (process.stderr.isTTY) process.stderr.write(`\r${now.tiles} tiles, ${now.differing} cells differ `);
      // Rejects only when the user interrupts. The next request then cancels.
      await sleep(machineClock, PROGRESS_MS, interrupted.signal).catch(() => undefined);
    }
  } finally {
    process.off("SIGINT", interrupt);
    if (process.stderr.isTTY) process.stderr.write("\r");
  }
}

/** `nuthatch quota …`: shows and changes a running server's quota, shows its usage, and verifies its ledger. */
export function quotaCommand(): Command {
  const quota = serverCommand("quota", "shows the disk quota of a running server, or changes it")
    .enablePositionalOptions()
    .action((flags: AnswerFlags) => requestAndPrint(flags, showQuota, "GET", "/api/v1/quota"));

  const usage = serverCommand("usage", "shows stored tiles and bytes, the trend, and the work of the quota")
    .addOption(layerOption())
    .option("--by-tile-set", "show them by grid set, format, parameters and zoom too")
    .action((flags: AnswerFlags & { layer?: string; byTileSet?: boolean }) => {
      const query = { layer: flags.layer, by: flags.byTileSet === true ? "tileSet" : undefined };
      return requestAndPrint(flags, showUsage, "GET", "/api/v1/usage", { query });
    });

  const verification = serverCommand("verify", "compares the records of the server with the tiles in the store")
    .option("--repair", "count differing cells again")
    .addOption(layerOption())
    .action(async (flags: VerifyFlags) => {
      const ended = await verify(new ServerClient(flags), flags);
      print(flags.json === true ? `${JSON.stringify(ended)}\n` : showDifferences(ended));
      if (ended.state === "failed") throw new CommandFailure(`failed: ${ended.reason ?? ""}`, EXIT.failure);
      if (ended.state === "cancelled") throw new CommandFailure("cancelled", EXIT.failure);
      if (ended.differing > 0 && flags.repair !== true) process.exitCode = EXIT.failure;
    });

  return quota
    .addCommand(quotaSetCommand())
    .addCommand(quotaUnsetCommand())
    .addCommand(quotaResetCommand())
    .addCommand(usage)
    .addCommand(verification);
}
