import { Command } from "commander";
import { sleep } from "../../lib/time/sleep.ts";
import { type AnswerFlags, print, type Received, type ReceivedValue } from "../client/answer.ts";
import { CommandFailure, EXIT } from "../exit.ts";
import { progressLine } from "../output/progress-line.ts";
import { bytesText, textTable } from "../output/text-table.ts";
import { connect, requestAndPrint, serverCommand } from "./server-command.ts";
import { collect } from "./shared-options.ts";

type Copies = Received<"StoreCopies">;

interface CopyFlags extends AnswerFlags {
  readonly layer?: readonly string[];
  readonly wait: boolean;
}

const PATH = "/api/v1/stores/copies";
const PROGRESS_MS = 500;

const showCopies = ({ copies }: Copies): string =>
  textTable(
    ["layer", "from", "to", "state", "tiles", "bytes", "copied", "removed", ""],
    copies.map((copy) => [
      copy.layer,
      copy.from,
      copy.to,
      copy.state,
      `${copy.tiles} of ${copy.total}`,
      bytesText(copy.bytes),
      String(copy.copied),
      String(copy.removed),
      copy.reason ?? "",
    ]),
  );

/** `nuthatch store …`: copies layers to another store of a running server. */
export function storeCommand(): Command {
  const copy = serverCommand(
    "copy",
    "copies layers to another store while they are in use, and keeps the copies up to date",
  )
    .argument("<from>", "the id of the store that has the tiles")
    .argument("<to>", "the id of the store that gets the tiles")
    .option("--layer <layer>", "a layer; may be repeated; absent: all layers of the store", collect)
    .option("--no-wait", "do not wait until the copies are complete")
    .addHelpText(
      "after",
      `
When the copies are complete, change layers[].store in the configuration and reload it.
Ctrl-C ends the command, and the server continues to copy: nuthatch store copies, nuthatch store cancel LAYER.`,
    )
    .action(copyStore);

  const copies = serverCommand("copies", "lists the copies of layers to other stores").action((flags: AnswerFlags) =>
    requestAndPrint(flags, showCopies, "GET", PATH),
  );

  const cancel = serverCommand("cancel", "ends the copy of a layer; the copied tiles stay")
    .argument("<layer>", "the name of a layer")
    .action((layer: string, flags: AnswerFlags) =>
      requestAndPrint(
        flags,
        (ended: Received<"StoreCopy">) => showCopies({ copies: [ended] }),
        "DELETE",
        `${PATH}/${encodeURIComponent(layer)}`,
      ),
    );

  return new Command("store")
    .description("copies layers to another store of a running server")
    .enablePositionalOptions()
    .addCommand(copy)
    .addCommand(copies)
    .addCommand(cancel);
}

async function copyStore(from: string, to: string, flags: CopyFlags): Promise<void> {
  const client = connect(flags);
  const body = { from, to, ...(flags.layer === undefined ? {} : { layers: flags.layer }) };
  let text = await client.request("POST", PATH, { document: body });
  const begun: ReceivedValue<Copies> = JSON.parse(text);
  const layers = new Set(begun.copies.map(({ layer }) => layer));
  let copies = begun.copies;
  if (flags.wait) {
    const line = progressLine();
    try {
      while (copies.some(({ state }) => state === "copying" || state === "waiting")) {
        line.show(progressOf(copies));
        await sleep(client.clock, PROGRESS_MS);
        text = await client.request("GET", PATH);
        const all: ReceivedValue<Copies> = JSON.parse(text);
        copies = all.copies.filter(({ layer }) => layers.has(layer));
      }
    } finally {
      line.close();
    }
  }
  print(flags.json === true ? `${JSON.stringify({ copies })}\n` : showCopies({ copies }));
  const ended = copies.find(({ state }) => state === "failed" || state === "cancelled");
  if (ended !== undefined)
    throw new CommandFailure(`${ended.layer}: ${ended.state} ${ended.reason ?? ""}`.trimEnd(), EXIT.failure);
}

function progressOf(copies: ReceivedValue<Copies>["copies"]): string {
  const sum = (of: "tiles" | "total"): number => copies.reduce((all, copy) => all + Number(copy[of]), 0);
  const waiting = copies.find(({ reason }) => reason !== null);
  const why = waiting === undefined ? "" : `; ${waiting.layer} waits: ${waiting.reason}`;
  return `${sum("tiles")} of ${sum("total")} tiles compared${why}`;
}
