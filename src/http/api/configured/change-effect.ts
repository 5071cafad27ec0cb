import type { ObjectEffect } from "../../../configuration/gwc/configured-object.ts";
import type { LayerName } from "../../../layer/tile-set.ts";
import type { RouteOptions } from "../../resource.ts";
import type { Documents } from "../documents/documents.ts";

type Effect = Documents["ConfigurationEffect"];
type Invalid = Effect["invalid"][number];

/** The tile sets of a layer that a change invalidates: all tile sets, or the tile sets of some grid sets. */
type Scope = "all" | ReadonlySet<string>;

/**
 * Returns the document of the effect that a change has or would have.
 * @param truncated the layer whose tiles the change removes, if any
 */
export async function effectDocument(
  operations: RouteOptions["operations"],
  result: Effect["result"],
  { layers, moved, relocated }: ObjectEffect,
  truncated: LayerName | undefined,
): Promise<Effect> {
  const scopes = new Map<LayerName, Scope>();
  for (const { layer } of moved)
    scopes.set(layer, new Set(moved.filter((one) => one.layer === layer).map(({ gridSet }) => gridSet)));
  for (const layer of [...relocated, ...(truncated === undefined ? [] : [truncated])]) scopes.set(layer, "all");
  const invalid: Invalid[] = [];
  for (const [layer, scope] of scopes) {
    const { tileSets = [] } = await operations.usage({ tileSets: true, layer });
    for (const { gridSet, format, parametersId, tiles, bytes, bytesOnDisk } of tileSets)
      if (scope === "all" || scope.has(gridSet))
        invalid.push({ layer, gridSet, format, parametersId, tiles, bytes, bytesOnDisk });
  }
  const sum = (of: (one: Invalid) => bigint): bigint => invalid.reduce((total, one) => total + of(one), 0n);
  return {
    result,
    layers: [...layers],
    invalid,
    tiles: sum(({ tiles }) => tiles),
    bytes: sum(({ bytes }) => bytes),
    bytesOnDisk: sum(({ bytesOnDisk }) => bytesOnDisk),
  };
}
