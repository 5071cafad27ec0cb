import type * as z from "zod";
import { legendSize } from "../source/demo/legend-size.ts";
import type { ConfigurationSchema } from "./fields/configuration-schema.ts";

/** Returns one legend for each style; "" is the default style. */
const statesLegends = (...styles: string[]) => styles.map((style) => ({ style, ...legendSize(style) }));

const formats = ["image/png", "image/png8", "image/jpeg"];

/**
 * The content of a configuration with the layers of GWC's documentation. Nuthatch renders these layers itself, so the
 * examples work on a fresh start.
 */
export const DEMO_CONFIGURATION: z.input<typeof ConfigurationSchema> = {
  gridSets: [
    // The grid set of GWC's own `geowebcache.xml`, in the projection of the US National Atlas.
    {
      id: "EPSG:2163",
      title: "US National Atlas equal area",
      srs: 2163,
      extent: [-2495667.977678598, -2223677.196231552, 3291070.6104286816, 959189.3312465074],
      scaleDenominators: [25000000, 1000000, 100000, 25000],
      tileSize: [200, 200],
    },
  ],
  layers: [
    {
      name: "topp:states",
      title: "USA population",
      description: "The states of the USA, coloured by population, number or hatching.",
      source: { type: "demo", dataset: "states", connections: 4 },
      gridSubsets: [
        { gridSet: "EPSG:4326", extent: [-129.6, 3.45, -62.1, 70.53] },
        { gridSet: "EPSG:900913" },
        { gridSet: "EPSG:2163" },
      ],
      formats,
      parameterFilters: [
        { type: "string", key: "STYLES", default: "population", values: ["population", "polygon", "pophatch"] },
        { type: "regex", key: "CQL_FILTER", regex: ".*" },
      ],
      legends: statesLegends("", "polygon", "pophatch"),
    },
    {
      name: "nurc:Arc_Sample",
      title: "The world",
      description: "Land and countries of the whole world, from Natural Earth.",
      source: { type: "demo", dataset: "world", connections: 4 },
      formats,
    },
    {
      name: "img states",
      title: "States, plain",
      description: "The states of the USA under a name with a space.",
      source: { type: "demo", dataset: "states", connections: 4 },
      formats,
      legends: statesLegends(""),
    },
  ],
};
