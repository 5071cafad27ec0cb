import { createGridSet, type Levels } from "../../grid/create-grid-set.ts";
import type { Extent, GridSet } from "../../grid/grid-set.ts";
import type { Path, Problems } from "./problems.ts";
import type { GridSetDocument } from "./schema.ts";

/** GWC's, when none of the three ways is used. */
const DEFAULT_LEVELS = 18;

export const hasControlCharacter = (text: string): boolean => /\p{Cc}/u.test(text);

export function extentOf([minX, minY, maxX, maxY]: readonly [number, number, number, number]): Extent {
  return { minX, minY, maxX, maxY };
}

/** The operator's own grid sets; one with the id of a built-in takes its place (as in GWC). */
export function buildGridSets(
  documents: readonly (GridSetDocument | undefined)[],
  at: Path,
  problems: Problems,
): ReadonlyMap<string, GridSet> {
  const built = new Map<string, GridSet>();
  const seen = new Set<string>();
  for (const [i, document] of documents.entries()) {
    if (document === undefined) continue;
    const path = [...at, i];
    const { id } = document;
    if (hasControlCharacter(id) || id.length > 100)
      problems.expected([...path, "id"], "at most 100 characters, none of them a control character", id);
    else if (seen.has(id)) problems.add([...path, "id"], `two grid sets are called ${JSON.stringify(id)}`);
    seen.add(id);
    const srs = typeof document.srs === "number" ? document.srs : epsgCode(document.srs);
    if (srs === undefined) problems.expected([...path, "srs"], "EPSG:NUMBER", document.srs);
    const scale = scaleOf(document, path, problems);
    if (srs === undefined || scale === undefined) continue;
    const { title, metersPerUnit, pixelSize, scaleNames, tileSize, alignTopLeft, yCoordinateFirst } = document;
    const created = createGridSet({
      id,
      srs,
      extent: extentOf(document.extent),
      scale,
      ...(title === undefined ? {} : { title }),
      ...(metersPerUnit === undefined ? {} : { metersPerUnit }),
      ...(pixelSize === undefined ? {} : { pixelSize }),
      ...(scaleNames === undefined ? {} : { scaleNames }),
      ...(tileSize === undefined ? {} : { tileWidth: tileSize[0], tileHeight: tileSize[1] }),
      ...(alignTopLeft === undefined ? {} : { alignTopLeft }),
      ...(yCoordinateFirst === undefined ? {} : { yCoordinateFirst }),
    });
    if (created.ok) built.set(id, created.value);
    else problems.add(path, created.error);
  }
  return built;
}

function epsgCode(text: string): number | undefined {
  const digits = /^(?:EPSG:)?([1-9]\d{0,5})$/i.exec(text.trim())?.[1];
  return digits === undefined ? undefined : Number(digits);
}

function scaleOf(document: GridSetDocument, path: Path, problems: Problems): Levels | undefined {
  const { resolutions, scaleDenominators, levels } = document;
  const given = [resolutions, scaleDenominators, levels].filter((one) => one !== undefined);
  if (given.length > 1) {
    problems.add(path, "only one of resolutions, scaleDenominators and levels can be given");
    return undefined;
  }
  if (resolutions !== undefined) return { resolutions };
  if (scaleDenominators !== undefined) return { scaleDenominators };
  return { levels: levels ?? DEFAULT_LEVELS };
}
