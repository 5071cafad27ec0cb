import type { Command } from "commander";
import type { AnswerFlags, Received } from "../client/answer.ts";
import { textTable } from "../output/text-table.ts";
import { requestAndPrint, serverCommand } from "./server-command.ts";

/** Formats a line per grid set with the values for `--grid-set`, `--zoom`, `--format` and `--parameter`. */
const showLayers = ({ layers }: Received<"Layers">): string =>
  textTable(
    ["layer", "grid set", "zoom", "formats", "parameters"],
    layers.flatMap(({ name, gridSets, formats, parameters }) =>
      gridSets.map(({ gridSet, zoomStart, zoomStop }) => [
        name,
        gridSet,
        `${zoomStart}-${zoomStop}`,
        formats.join(", "),
        parameters.map((parameter) => `${parameter.key}=${parameter.default}`).join(", "),
      ]),
    ),
  );

/** `nuthatch layers`: lists the layers that can be seeded. */
export function layersCommand(): Command {
  return serverCommand(
    "layers",
    "lists the layers of a running server with their grid sets, levels and formats",
  ).action((flags: AnswerFlags) => requestAndPrint(flags, showLayers, "GET", "/api/v1/layers"));
}
