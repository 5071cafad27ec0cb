import { formatOf, type TileFormat } from "../../layer/format.ts";
import { defaultSubset, findSubset, type OfferedTiles } from "../../layer/layer.ts";
import { didYouMean } from "../../lib/text/nearest.ts";
import { type CatalogueAnswer, remoteCatalogue } from "../client/remote-catalogue.ts";
import type { ServerClient } from "../client/server-client.ts";
import type { RangeFlags } from "../commands/jobs/job-flags.ts";
import { CommandFailure, EXIT } from "../exit.ts";

/** Finds the tile set of the flags. @throws CommandFailure that lists the existing ones */
export async function remoteTileSet(
  client: ServerClient,
  name: string,
  { gridSet: [gridSet] = [], format: [format] = [] }: Pick<RangeFlags, "gridSet" | "format">,
  /** Chooses the format if the flags have none. */
  choose: (formats: readonly TileFormat[]) => TileFormat | undefined | Promise<TileFormat | undefined> = ([first]) =>
    first,
): Promise<OfferedTiles> {
  const answer: CatalogueAnswer = JSON.parse(await client.request("GET", "/api/v1/layers"));
  const { layers } = remoteCatalogue(answer);
  const layer = layers.get(name);
  if (layer === undefined)
    throw new CommandFailure(`Unknown layer: ${name}${didYouMean(name, [...layers.keys()])}`, EXIT.usage);
  const subset = gridSet === undefined ? defaultSubset(layer) : findSubset(layer, gridSet);
  if (subset === undefined) {
    const known = layer.gridSubsets.map((one) => one.gridSet.id).join(", ");
    throw new CommandFailure(`--grid-set: expected a grid set of the layer (${known}), got ${gridSet}`, EXIT.usage);
  }
  const known = layer.formats.map(({ mimeType }) => mimeType).join(", ");
  const named = format === undefined ? await choose(layer.formats) : formatOf(format);
  const found = layer.formats.find(({ mimeType }) => mimeType === named?.mimeType);
  if (found === undefined)
    throw new CommandFailure(`--format: expected a format of the layer (${known}), got ${format}`, EXIT.usage);
  return { layer, subset, format: found };
}
