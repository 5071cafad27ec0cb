import { type Command, Option } from "commander";
import type { AnswerFlags, Received } from "../../client/answer.ts";
import { bytesText, parametersText, textTable, timeText } from "../../output/text-table.ts";
import { requestAndPrint, serverCommand } from "../server-command.ts";
import { layerOption, parseJobId, parseWhole } from "../shared-options.ts";

const countText = ({ tiles, bytes }: Received<"Truncation">): string =>
  tiles === null || bytes === null ? "not counted" : `${tiles} tiles, ${bytesText(bytes)}`;

/** Formats a new truncation. */
export function showTruncated(truncation: Received<"Truncation">): string {
  const { id, layer, type, mode, undoUntil } = truncation;
  const isWhole = type === "truncateLayer";
  if (truncation.tiles === 0)
    return `Nothing was removed: ${layer} had no ${isWhole ? "stored tiles" : "such tiles"}.\n`;
  const undo = `nuthatch undo ${id}`;
  if (mode === "soft")
    return `${layer} is stale (${countText(truncation)}), until it is rendered again; ${undo} makes it fresh again.\n`;
  const until = timeText(undoUntil);
  const removed = isWhole
    ? `${layer} is empty.`
    : `The tiles of ${layer} that the configuration no longer has are removed.`;
  return `${removed}${until === undefined ? "" : ` ${countText(truncation)} can be restored until ${until}: ${undo}.`}\n`;
}

function showUndone(truncation: Received<"Truncation">): string {
  const { id, layer, mode, discarded } = truncation;
  const since = mode === "soft" ? "" : `; ${discarded ?? "uncounted"} tiles stored since are discarded`;
  return `Truncation ${id} of ${layer} is undone: ${countText(truncation)}${since}.\n`;
}

const showTruncations = ({ truncations }: Received<"Truncations">): string =>
  truncations.length === 0
    ? "There are no truncations.\n"
    : textTable(
        ["truncation", "layer", "what", "at", "by", "tiles", "bytes", "state"],
        truncations.map((one) => [
          String(one.id),
          one.layer,
          [
            one.mode === "soft" ? "soft" : one.type,
            ...(one.parameters === null ? [] : [parametersText(one.parameters)]),
          ].join(" "),
          timeText(one.createdAt) ?? "",
          one.createdBy ?? "",
          one.tiles === null ? "" : String(one.tiles),
          one.bytes === null ? "" : bytesText(one.bytes),
          one.undoUntil === null ? one.state : `${one.state} until ${timeText(one.undoUntil)}`,
        ]),
      );

/** `nuthatch truncations`: lists mass truncations, and whether each can be undone. */
export function truncationsCommand(): Command {
  return serverCommand("truncations", "lists mass truncations, newest first, and says which can be undone")
    .addOption(layerOption())
    .addOption(
      new Option("--state <state>", "only those in one state").choices(["kept", "undoing", "undone", "reclaimed"]),
    )
    .option("--limit <n>", "the most truncations to list", parseWhole(1, 1000), 20)
    .action((flags: AnswerFlags & { layer?: string; state?: string; limit: number }) => {
      const { limit, layer, state } = flags;
      return requestAndPrint(flags, showTruncations, "GET", "/api/v1/truncations", { query: { limit, layer, state } });
    });
}

/** `nuthatch undo ID`: undoes a mass truncation. */
export function undoCommand(): Command {
  return serverCommand(
    "undo",
    "undoes a mass truncation: restores its tiles, and discards tiles that were stored since",
  )
    .argument("<truncation>", "the id of the truncation, as nuthatch truncations lists it", parseJobId)
    .action((id: number, flags: AnswerFlags) =>
      requestAndPrint(flags, showUndone, "POST", `/api/v1/truncations/${id}/undo`),
    );
}
