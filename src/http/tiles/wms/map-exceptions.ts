import type { PlainPicture } from "../../../cache/map-renderer.ts";
import type { Catalogue } from "../../../layer/catalogue.ts";
import { formatOf } from "../../../layer/format.ts";
import type { Query } from "../../request/query.ts";
import { parseBackground } from "./map-background.ts";
import { parseSize } from "./map-parts.ts";
import { composesAnyMap, EXCEPTIONS, MAX_SIDE, mapFormats } from "./wms-capabilities.ts";

/** A picture that is sent in place of an error document. */
export interface ErrorPicture extends PlainPicture {
  /** Whether the error is written into the picture. */
  readonly hasText: boolean;
}

/**
 * Returns the picture that a GetMap wants in place of an error document (OGC 06-042, 7.3.3.11). Undefined if the request
 * wants a document, if it does not describe a picture, and on a server whose layers have only tiles: there errors are
 * documents, as in GWC.
 */
export function errorPicture(catalogue: Catalogue, query: Query): ErrorPicture | undefined {
  const wanted = (query.get("EXCEPTIONS") ?? "").toUpperCase();
  const kind = (["inimage", "blank"] as const).find((one) =>
    Object.values(EXCEPTIONS).some((names) => names[one].toUpperCase() === wanted),
  );
  const isMap = /^(?:get)?map$/i.test(query.get("REQUEST") ?? "");
  if (kind === undefined || !isMap || !composesAnyMap(catalogue)) return undefined;
  const format = formatOf(query.get("FORMAT") ?? "");
  const size = parseSize(query);
  const isOffered = mapFormats(catalogue).some(({ mimeType }) => mimeType === format?.mimeType);
  if (format?.kind !== "image" || !isOffered || !size.ok) return undefined;
  if (size.value.width > MAX_SIDE || size.value.height > MAX_SIDE) return undefined;
  const background = parseBackground(query, format);
  return { ...size.value, format, ...(background.ok ? background.value : {}), hasText: kind === "inimage" };
}
