import type { WmsSourceOptions } from "../layer/layer.ts";
import { type Clock, createHttpSource } from "./http-source.ts";
import type { Source } from "./source.ts";
import { questionUrl, wmsUrl } from "./wms-request.ts";

/** A WMS 1.1.1 or 1.3.0. */
export const createWmsSource = (options: WmsSourceOptions, now?: Clock): Source =>
  createHttpSource(
    options,
    {
      picture: (address, request) => wmsUrl(address, options, request),
      question: (address, question) => questionUrl(address, options, question),
    },
    now,
  );
