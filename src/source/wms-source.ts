import type { WmsSourceOptions } from "../layer/layer.ts";
import { createHttpFetch } from "./http-fetch.ts";
import type { Source } from "./source.ts";
import { wmsUrl } from "./wms-request.ts";

/** A WMS 1.1.1 or 1.3.0. */
export function createWmsSource(options: WmsSourceOptions): Source {
  const http = createHttpFetch(options, [new URL(options.url)]);
  return {
    draw: async (request, signal) => ({
      kind: "encoded",
      bytes: await http.picture(wmsUrl(options, request), signal),
    }),
    [Symbol.asyncDispose]: () => http[Symbol.asyncDispose](),
  };
}
