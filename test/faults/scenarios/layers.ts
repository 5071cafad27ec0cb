import { smallTiles, wmsConfiguration } from "../../support/server/wms-configuration.ts";

/** The first levels of a layer are few metatiles of 2 x 2 tiles. */
const layer = (name: string, extra: string) => ({
  name,
  gridSubsets: "[{ gridSet: EPSG:900913 }]",
  extra: `metatile: [2, 2]\n    ${extra}`,
});

/** Layers of small tiles. */
export const layersOf =
  (names: readonly string[], more = "", extra = "") =>
  (url: string) => ({
    configuration: smallTiles(
      url,
      names.map((name) => layer(name, extra)),
      more,
    ),
  });

/** A layer with tiles of 256 pixels, as archives need them. */
export const wideLayer = (url: string) => ({ configuration: wmsConfiguration(url, [layer("a", "")]) });
