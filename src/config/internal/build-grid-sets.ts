import { createGridSet, type Levels } from "../../grid/create-grid-set.ts";
import type { Extent, GridSet } from "../../grid/grid-set.ts";
import { gridSetOfTileMatrixSet } from "../../grid/tile-matrix-set.ts";
import type { Result } from "../../lib/result.ts";
import type { Path, Problems } from "./problems.ts";
import { hasControlCharacter } from "./schema/fields.ts";
import type { GridSetDocument } from "./schema/grid-set-schema.ts";

/** GWC's number of levels, for a grid set without resolutions, scale denominators and levels. */
const DEFAULT_LEVELS = 18;

export function extentOf([minX, minY, maxX, maxY]: readonly [number, number, number, number]): Extent {
  return { minX, minY, maxX, maxY };
}

/** Returns the JSON of a file that `tileMatrixSet` names, or the reason why it cannot be read. */
export type ReadDocument = (file: string) => Result<unknown, string>;

/** Builds the configured grid sets. A configured grid set replaces the built-in one with its id, as in GWC. */
export function buildGridSets(
  documents: readonly (GridSetDocument | undefined)[],
  at: Path,
  problems: Problems,
  readDocument: ReadDocument,
): ReadonlyMap<string, GridSet> {
  const built = new Map<string, GridSet>();
  const seen = new Set<string>();
  for (const [i, document] of documents.entries()) {
    if (document === undefined) continue;
    const path = [...at, i];
    const gridSet =
      document.tileMatrixSet === undefined
        ? buildGridSet(document, path, problems)
        : importGridSet(document, document.tileMatrixSet, path, problems, readDocument);
    const id = document.id ?? gridSet?.id;
    if (id === undefined) continue;
    if (hasControlCharacter(id) || id.length > 100)
      problems.expected([...path, "id"], "at most 100 characters, none of them a control character", id);
    else if (seen.has(id)) {
      const where = document.id === undefined ? "tileMatrixSet" : "id";
      problems.add([...path, where], `two grid sets are called ${JSON.stringify(id)}`);
    }
    seen.add(id);
    if (gridSet !== undefined) built.set(id, gridSet);
  }
  return built;
}

function buildGridSet(document: GridSetDocument, path: Path, problems: Problems): GridSet | undefined {
  const { id, srs: crs, extent } = document;
  for (const key of ["id", "srs", "extent"] as const)
    if (document[key] === undefined) problems.add(path, `${key} is missing`);
  const srs = typeof crs === "number" || crs === undefined ? crs : epsgCode(crs);
  if (crs !== undefined && srs === undefined) problems.expected([...path, "srs"], "EPSG:NUMBER", crs);
  const scale = scaleOf(document, path, problems);
  if (id === undefined || srs === undefined || extent === undefined || scale === undefined) return undefined;
  const { title, metersPerUnit, pixelSize, scaleNames, tileSize, alignTopLeft, yCoordinateFirst } = document;
  const created = createGridSet({
    id,
    srs,
    extent: extentOf(extent),
    scale,
    ...(title === undefined ? {} : { title }),
    ...(metersPerUnit === undefined ? {} : { metersPerUnit }),
    ...(pixelSize === undefined ? {} : { pixelSize }),
    ...(scaleNames === undefined ? {} : { scaleNames }),
    ...(tileSize === undefined ? {} : { tileWidth: tileSize[0], tileHeight: tileSize[1] }),
    ...(alignTopLeft === undefined ? {} : { alignTopLeft }),
    ...(yCoordinateFirst === undefined ? {} : { yCoordinateFirst }),
  });
  if (created.ok) return created.value;
  problems.add(path, created.error);
  return undefined;
}

/** Builds a grid set from an OGC TileMatrixSet document. The configuration gives only its id and title. */
function importGridSet(
  { id, title, tileMatrixSet: _, ...others }: GridSetDocument,
  file: string,
  path: Path,
  problems: Problems,
  readDocument: ReadDocument,
): GridSet | undefined {
  for (const key of Object.keys(others))
    problems.add([...path, key], "is said by the document of tileMatrixSet; only id and title can be given", "key");
  const read = readDocument(file);
  const names = { ...(id === undefined ? {} : { id }), ...(title === undefined ? {} : { title }) };
  const gridSet = read.ok ? gridSetOfTileMatrixSet(read.value, names) : read;
  if (gridSet.ok) return gridSet.value;
  problems.add([...path, "tileMatrixSet"], `${file}: ${gridSet.error}`);
  return undefined;
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
