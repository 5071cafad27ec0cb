import { type GridSubset, type Layer, subsetExtent } from "../../layer/layer.ts";
import type { Resource } from "../resource.ts";
import { json, reader } from "./api-parts.ts";

/** `layers`: what a job can be asked for, in the order of the configuration; the first of each is the default. */
export const layersResource = (): Resource =>
  reader(async ({ catalogue }) => json({ layers: [...catalogue.layers.values()].map(layerDocument) }));

const layerDocument = ({ name, title, formats, gridSubsets, parameterFilters, jobs }: Layer) => ({
  name,
  title,
  formats: formats.map(({ mimeType }) => mimeType),
  gridSets: gridSubsets.map(gridSetDocument),
  parameters: parameterFilters.map((filter) => ({ key: filter.key, default: filter.default })),
  jobs: { weight: jobs.weight, maxTasks: jobs.maxTasks ?? null },
});

function gridSetDocument(subset: GridSubset) {
  const { gridSet, zoomStart, zoomStop } = subset;
  const { minX, minY, maxX, maxY } = subsetExtent(subset);
  return { gridSet: gridSet.id, srs: gridSet.srs, zoomStart, zoomStop, bounds: [minX, minY, maxX, maxY] };
}
