import { rename, rm, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { maskRequest } from "../../cache/masks.ts";
import { failureOf } from "../../cache/tile-failure.ts";
import type { Configuration } from "../../configuration/configuration.ts";
import type { MaskUpdate } from "../../http/resource.ts";
import { maskFileName } from "../../layer/filter/request-filter.ts";
import { findSubset } from "../../layer/layer.ts";
import { fileFault } from "../../lib/file/file-fault.ts";
import type { Refusal } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import type { UserRenders } from "../../render/user-renders.ts";
import type { ServingProcesses } from "../process/process-methods.ts";

/** Reloads rasters of a request filter in all serving processes. First stores a new picture if its size is right. */
export async function updateMasks(
  parts: {
    readonly configuration: Pick<Configuration, "layers">;
    readonly renders: Pick<UserRenders, "queryUpstream">;
    readonly serving: Pick<ServingProcesses, "renewMasks">;
  },
  { picture, ...renewal }: MaskUpdate,
): Promise<Result<null, Refusal>> {
  const stored = picture === undefined ? ok(null) : await storePicture(parts, renewal, picture);
  if (stored.ok) await parts.serving.renewMasks(renewal);
  return stored;
}

async function storePicture(
  { configuration, renders }: Pick<Parameters<typeof updateMasks>[0], "configuration" | "renders">,
  { layer: name, filter: filterName, gridSet, zoomStart: z }: Omit<MaskUpdate, "picture">,
  picture: Uint8Array,
): Promise<Result<null, Refusal>> {
  const refused = (why: string) =>
    refuse<Refusal>({ code: "bad_field", message: `Error updating ${filterName}: ${why}` });
  const layer = configuration.layers.find((one) => one.name === name);
  const filter = layer?.requestFilters?.find((one) => one.name === filterName);
  const subset = layer && findSubset(layer, gridSet);
  if (layer === undefined || subset === undefined || filter?.type !== "file")
    return refused("the layer has been changed");
  const request = maskRequest({ filter, subset, z });
  if (request === undefined) return refused(`${gridSet} has no raster of level ${z}`);
  const checked = await renders.queryUpstream(layer, { ...request, picture }, filterName, new AbortController().signal);
  if (checked.kind !== "info") return refused(failureOf(checked).message);
  const path = resolve(filter.directory, maskFileName(filter, gridSet, z));
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    await writeFile(temporary, picture, { mode: 0o644 });
    await rename(temporary, path);
    return ok(null);
  } catch (error) {
    await rm(temporary, { force: true });
    return refuse({ code: "unavailable", message: `Error updating ${filterName}: ${fileFault(error)}` });
  }
}
