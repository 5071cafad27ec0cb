import type { Command } from "commander";
import { type AnswerFlags, parseAnswer, print, type Received } from "../../client/answer.ts";
import { EXIT } from "../../exit.ts";
import { textTable, timeText } from "../../output/text-table.ts";
import { connect, serverCommand } from "../server-command.ts";

/** Formats a line per node. */
function showNodes({ nodes }: Received<"Nodes">): string {
  const rows = nodes.map(({ name, lead, state, since, lag, work }) => [
    name,
    lead ? "leads" : "",
    state,
    timeText(since),
    `${lag} ms`,
    String(work.tiles),
    String(work.renders),
    String(work.metatiles),
  ]);
  return textTable(["node", "lead", "state", "since", "lag", "tiles", "renders", "metatiles"], rows);
}

/** `nuthatch nodes`: shows the nodes of a cluster. The exit code is 1 if a node is lost. */
export function nodesCommand(): Command {
  return serverCommand(
    "nodes",
    "lists the nodes of a cluster: the leading node, the last message of each node, and lost nodes",
  ).action(async (flags: AnswerFlags) => {
    const text = await connect(flags).request("GET", "/api/v1/nodes");
    const known: Received<"Nodes"> = parseAnswer(text);
    print(flags.json === true ? `${text.trim()}\n` : showNodes(known));
    if (known.nodes.some(({ state }) => state === "lost")) process.exitCode = EXIT.failure;
  });
}
