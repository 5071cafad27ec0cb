import { createGridSet } from "../../../grid/create-grid-set.ts";
import { doubtfulUnit } from "../../../grid/crs/units.ts";
import { extentOf } from "../../../grid/extent.ts";
import type { GridSet } from "../../../grid/grid-set.ts";
import { gridSetOfTileMatrixSet } from "../../../grid/tile-matrix-set.ts";
import { defined } from "../../../lib/defined.ts";
import { readSmallFile } from "../../../lib/file/small-file.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { hasControlCharacter } from "../../fields/fields.ts";
import type { GridSetDocument } from "../../fields/grid-set-schema.ts";
import type { Path, Problems } from "../read/problems.ts";

/** GWC's number of levels of a grid set without resolutions, scale denominators and levels. */
const DEFAULT_LEVELS = 18;
/** The most bytes of a TileMatrixSet document. */
const MAX_DOCUMENT_BYTES = 4 * 1024 * 1024;

/**
 * Builds the configured grid sets. A configured grid set replaces the built-in one with its id, as in GWC. With
 * `textOnly` no file is read.
 */
export function buildGridSets(
  documents: readonly (GridSetDocument | undefined)[],
  { textOnly }: { readonly textOnly?: true },
  problems: Problems,
): ReadonlyMap<string, GridSet> {
  const built = new Map<string, GridSet>();
  const seen = new Set<string>();
  for (const [i, document] of documents.entries()) {
    if (document === undefined) continue;
    const path = ["gridSets", i];
    if (textOnly && document.tileMatrixSet !== undefined) problems.skip([...path, "tileMatrixSet"]);
    const gridSet =
      document.tileMatrixSet === undefined
        ? buildGridSet(document, path, problems)
        : textOnly
          ? undefined
          : importGridSet(document, document.tileMatrixSet, path, problems);
    const id = document.id ?? gridSet?.id;
    if (id === undefined) continue;
    if (hasControlCharacter(id) || id.length > 100)
      problems.expected([...path, "id"], "at most 100 characters, none of them a control character", id);
    // Some stores use the id as the name of a directory.
    else if (id.split("/").some((part) => part === "." || part === ".."))
      problems.expected([...path, "id"], "an id that has no part . or ..", id);
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
  if (created.ok) {
    const doubt = doubtfulUnit(created.value);
    if (doubt !== undefined) problems.warn([...path, "metersPerUnit"], doubt);
    return created.value;
  }
  problems.add(path, created.error);
  return undefined;
}

/** Builds a grid set from an OGC TileMatrixSet document. The configuration adds only its id and title. */
function importGridSet(
  { id, title }: GridSetDocument,
  file: string,
  path: Path,
  problems: Problems,
): GridSet | undefined {
  const read = readJson(problems.fileAt([...path, "tileMatrixSet"], file));
  const gridSet = read.ok ? gridSetOfTileMatrixSet(read.value, defined({ id, title })) : read;
  if (gridSet.ok) return gridSet.value;
  problems.add([...path, "tileMatrixSet"], `${file}: ${gridSet.error}`);
  return undefined;
}

function readJson(path: string): Result<unknown, string> {
  const text = readSmallFile(path, MAX_DOCUMENT_BYTES);
  if (!text.ok) return text;
  try {
    const content: unknown = JSON.parse(text.value);
    return ok(content);
  } catch {
    // The error's message quotes the file, which may be any file of this machine.
    return refuse("is no JSON");
  }
}
