import { createGridSet } from "../../grid/create-grid-set.ts";
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
  const { id, srs, extent, tileSize, tileMatrixSet: _, resolutions, scaleDenominators, levels, ...plain } = document;
  if (id === undefined || srs === undefined || extent === undefined || problems.within(path)) return undefined;
  const scale =
    resolutions === undefined
      ? scaleDenominators === undefined
        ? { levels: levels ?? DEFAULT_LEVELS }
        : { scaleDenominators }
      : { resolutions };
  const created = createGridSet({
    ...plain,
    id,
    srs,
    extent: extentOf(extent),
    scale,
    ...(tileSize === undefined ? {} : { tileWidth: tileSize[0], tileHeight: tileSize[1] }),
  });
  if (created.ok) return created.value;
  problems.add(path, created.error);
  return undefined;
}

/** Builds a grid set from an OGC TileMatrixSet document. The configuration gives only its id and title. */
function importGridSet(
  { id, title }: GridSetDocument,
  file: string,
  path: Path,
  problems: Problems,
  readDocument: ReadDocument,
): GridSet | undefined {
  const read = readDocument(file);
  const names = { ...(id === undefined ? {} : { id }), ...(title === undefined ? {} : { title }) };
  const gridSet = read.ok ? gridSetOfTileMatrixSet(read.value, names) : read;
  if (gridSet.ok) return gridSet.value;
  problems.add([...path, "tileMatrixSet"], `${file}: ${gridSet.error}`);
  return undefined;
}
