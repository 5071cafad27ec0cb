import type { WmsSourceOptions } from "../../layer/source-options.ts";
import { createHttpSource, type SourceParts } from "../http/http-source.ts";
import type { Source } from "../source.ts";
import { questionUrl, WmsAddresses } from "./wms-request.ts";

/** Creates the source of a WMS 1.1.1 or 1.3.0. */
export function createWmsSource(options: WmsSourceOptions, parts: SourceParts): Source {
  const addresses = new WmsAddresses(options);
  return createHttpSource(
    options,
    {
      areForms: options.method === "post",
      picture: (address, request) => addresses.picture(address, request),
      question: (address, question) => questionUrl(address, options, question),
    },
    parts,
  );
}
