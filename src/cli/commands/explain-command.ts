import type { Command } from "commander";
import type { Explanation } from "../../http/tiles/explanation.ts";
import { trimEndOf } from "../../lib/text/trim-end.ts";
import { type AnswerFlags, parseAnswer, printAnswer, type ReceivedValue } from "../client/answer.ts";
import type { ServerClient, ServerFlags } from "../client/server-client.ts";
import { CommandFailure, EXIT } from "../exit.ts";
import { factList, parametersText, timeText } from "../output/text-table.ts";
import { connect, serverCommand } from "./server-command.ts";

const jobText = ({ id, type, state, startedAt }: NonNullable<ReceivedValue<Explanation>["writtenBy"]>): string =>
  `job ${id} (${type}, ${state}, begun ${timeText(startedAt) ?? "never"})`;

function show(e: ReceivedValue<Explanation>): string {
  const parameters =
    e.parameters.id === "" ? "the defaults" : `${parametersText(e.parameters.values)} (${e.parameters.id})`;
  const rows: readonly (readonly [string, string | undefined])[] = [
    ["layer", e.layer],
    ["grid set", e.gridSet],
    ["tile", `z ${e.tile.z}, x ${e.tile.x}, y ${e.tile.y ?? "?"} from the bottom`],
    ["bounds", e.bounds?.join(",")],
    ["format", e.format],
    ["parameters", parameters],
    ["state", e.message],
    ["in memory", e.store === null ? undefined : e.inMemory ? "yes" : "no"],
    ["in the store", e.store?.key],
    ["written", timeText(e.store?.modifiedAt ?? null)],
    ["written by", e.writtenBy === null ? undefined : jobText(e.writtenBy)],
    ["truncated by", e.truncatedBy === null ? undefined : jobText(e.truncatedBy)],
    ["layer truncated", timeText(e.layerTruncatedAt)],
    ["evicted", timeText(e.evictedAt)],
  ];
  return factList(rows);
}

/** Returns the address of a tile and a client for its server. A path without a host is on the server of `--url`. */
function addressOf(tile: string, flags: ServerFlags): { readonly client: ServerClient; readonly at: URL } {
  const ownServer = /^https?:\/\//i.test(tile);
  const relative = tile.startsWith("/") ? tile : `/${tile}`;
  const text = ownServer ? tile : `${trimEndOf(flags.url, "/")}${relative}`;
  if (!URL.canParse(text)) throw new CommandFailure(`expected the address of a tile, got ${tile}`, EXIT.usage);
  const at = new URL(text);
  // A pasted address may name any server, so the password is sent only to the server of `--url`.
  const trusted = URL.canParse(flags.url) && new URL(flags.url).origin === at.origin;
  const credentials = trusted ? "found" : "none";
  return { client: connect({ ...flags, url: at.origin }, { credentials }), at };
}

/**
 * `nuthatch explain URL`: explains the state of a tile at a running server. Renders nothing. The exit code is 1 if the
 * layer lacks the level.
 */
export function explainCommand(): Command {
  return serverCommand("explain", "explains where a tile is stored, or why it is not")
    .argument("<url>", "the tile's address, or its path on the server of --url")
    .action(async (tile: string, flags: AnswerFlags) => {
      const { client, at } = addressOf(tile, flags);
      at.searchParams.set("explain", "");
      const answer = await client.request("GET", `${at.pathname}${at.search}`);
      printAnswer(answer, flags, show);
      const { reason } = parseAnswer<ReceivedValue<Explanation>>(answer);
      if (reason === "outside_levels") process.exitCode = EXIT.failure;
    });
}
