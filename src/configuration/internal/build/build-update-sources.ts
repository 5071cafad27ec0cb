import { asGridSetName } from "../../../grid/grid-set.ts";
import { formatOf, type TileFormat } from "../../../layer/format.ts";
import type { GridSubset } from "../../../layer/grid-subset.ts";
import type { UpdateSource } from "../../../layer/update-source.ts";
import type { UpdateSourceDocument } from "../../fields/update-source-schema.ts";
import type { Path, Problems } from "../read/problems.ts";

/** The grid set of lists of expired tiles. */
const WEB_MERCATOR = "EPSG:900913";

/**
 * Builds the update sources of a layer, and checks that the layer offers their grid sets and formats. Undefined without
 * sources.
 */
export function buildUpdateSources(
  documents: readonly UpdateSourceDocument[] | undefined,
  { gridSubsets, formats }: { readonly gridSubsets: readonly GridSubset[]; readonly formats: readonly TileFormat[] },
  path: Path,
  problems: Problems,
): readonly UpdateSource[] | undefined {
  const [first] = gridSubsets;
  // Without a grid subset the layer has a problem already.
  if (documents === undefined || first === undefined) return undefined;
  return documents.map((document, i): UpdateSource => {
    if (document.type === "postgres") return document;
    if (document.type === "files") {
      const absolute = document.paths.map((file, n) => problems.fileAt([...path, i, "paths", n], file));
      return { ...document, paths: absolute };
    }
    const offered = gridSubsets.map((subset): string => subset.gridSet.id);
    if (document.type === "tileLists") {
      const usual = offered.includes(WEB_MERCATOR) ? WEB_MERCATOR : first.gridSet.id;
      const { gridSet = usual, directory, ...plain } = document;
      if (!offered.includes(gridSet))
        problems.expected([...path, i, "gridSet"], `a grid set of the layer, one of ${offered.join(", ")}`, gridSet);
      const absolute = problems.fileAt([...path, i, "directory"], directory);
      return { ...plain, directory: absolute, gridSet: asGridSetName(gridSet) };
    }
    const { gridSet = first.gridSet.id, format, ...plain } = document;
    const known = format === undefined ? undefined : formatOf(format)?.mimeType;
    const names = formats.map(({ mimeType }) => mimeType);
    if (!offered.includes(gridSet))
      problems.expected([...path, i, "gridSet"], `a grid set of the layer, one of ${offered.join(", ")}`, gridSet);
    if (format !== undefined && (known === undefined || !names.includes(known)))
      problems.expected([...path, i, "format"], `a format of the layer, one of ${names.join(", ")}`, format);
    return { ...plain, gridSet: asGridSetName(gridSet), ...(known === undefined ? {} : { format: known }) };
  });
}
