import * as tms from "../../src/http/tiles/tms/tms-documents.ts";
import * as wms from "../../src/http/tiles/wms/wms-capabilities.ts";
import * as wmts from "../../src/http/tiles/wmts/wmts-capabilities.ts";

/** Returns a function that joins the parts that another function writes. */
const whole =
  <A extends readonly unknown[]>(write: (...args: A) => Iterable<string>) =>
  (...args: A): string =>
    [...write(...args)].join("");

export const wmtsCapabilities = whole(wmts.wmtsCapabilities);
export const wmsCapabilities111 = whole(wms.wmsCapabilities111);
export const wmsCapabilities130 = whole(wms.wmsCapabilities130);
export const tileMapServiceDocument = whole(tms.tileMapServiceDocument);
