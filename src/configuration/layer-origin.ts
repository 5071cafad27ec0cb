import type { Configuration } from "./configuration.ts";
import { documentOf } from "./gwc/configured-object.ts";
import { originOfObject } from "./gwc/object-origin.ts";
import type { Origin } from "./problem.ts";

/** Returns where a layer is configured: a file, or the document of a request. Undefined for a demo layer. */
export function layerOrigin(
  { layerOrigins, objects, geowebcache }: Configuration,
  name: string,
): Pick<Origin, "file" | "line"> | undefined {
  if (documentOf(objects, "layer", name) === undefined) return layerOrigins.get(name);
  return { file: geowebcache?.file ?? originOfObject({ kind: "layer", name }) };
}
