import { corners, gridSetDocument } from "../../../grid/grid-set-document.ts";
import { type GridSubset, type Layer, subsetExtent } from "../../../layer/layer.ts";
import type { Resource } from "../../resource.ts";
import { documentAnswer, reader } from "../api-answer.ts";

/**
 * `layers`: the layers and grid sets of which jobs can be requested, in the order of the configuration. The first
 * format and grid set of a layer are its defaults.
 */
export const layersResource = (): Resource =>
  reader(async ({ catalogue }) => {
    const layers = [...catalogue.layers.values()];
    const used = new Set(layers.flatMap(({ gridSubsets }) => gridSubsets.map(({ gridSet }) => gridSet)));
    return documentAnswer("Layers", { layers: layers.map(layerDocument), gridSets: [...used].map(gridSetDocument) });
  });

const layerDocument = ({ name, title, formats, gridSubsets, parameterFilters, jobs }: Layer) => ({
  name,
  title,
  formats: formats.map(({ mimeType }) => mimeType),
  gridSets: gridSubsets.map(subsetDocument),
  parameters: parameterFilters,
  jobs: { weight: jobs.weight, maxTasks: jobs.maxTasks ?? null },
});

function subsetDocument(subset: GridSubset) {
  const { gridSet, zoomStart, zoomStop } = subset;
  return { gridSet: gridSet.id, srs: gridSet.srs, zoomStart, zoomStop, bounds: corners(subsetExtent(subset)) };
}
