import type { Catalogue } from "../layer/catalogue.ts";
import type { AdoptedLayer } from "../ledger/adoption.ts";

/** Returns the layers whose tiles are counted if the ledger has not counted them yet. */
export const adoptedLayers = ({ layers }: Catalogue): AdoptedLayer[] =>
  [...layers.values()].map(({ name, gridSubsets }) => ({
    name,
    gridSets: gridSubsets.map(({ gridSet }) => gridSet.id),
  }));
