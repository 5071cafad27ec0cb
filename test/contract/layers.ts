import { wmsConfiguration } from "../support/server/wms-configuration.ts";

/** Layers with the variety of the contract's fields: filters, levels that begin above 0, odd names. */
export const layers = (url: string, more = ""): string =>
  wmsConfiguration(
    url,
    [
      {
        name: "ws:roads",
        timeoutSeconds: 600,
        extra: 'parameterFilters: [{ type: string, key: STYLES, default: "", values: [a, b] }]',
      },
      {
        name: "lä yer.v1",
        timeoutSeconds: 600,
        gridSubsets: "[{ gridSet: EPSG:900913, zoomStart: 2, zoomStop: 5 }, { gridSet: WebMercatorQuad }]",
      },
      {
        name: "x/y",
        timeoutSeconds: 600,
        gridSubsets: "[{ gridSet: EPSG:4326, extent: [0, 0, 45, 45], zoomStop: 10 }]",
      },
      { name: "a+b", timeoutSeconds: 600 },
    ],
    more,
  );
