import { asParametersId, type ParametersId } from "../../layer/tile-set.ts";
import { directoryName } from "../file/file-layout.ts";
import type { StoredPyramid } from "../inventory-store.ts";

/** Returns the name of a pyramid's directory in the layer's directory: `GRIDSET[_PARAMETERSID]`. */
export const pyramidDirectory = ({ gridSet, parametersId }: Pick<StoredPyramid, "gridSet" | "parametersId">): string =>
  `${directoryName(gridSet)}${parametersId === "" ? "" : `_${parametersId}`}`;

/** Parses the name of a pyramid's directory. Undefined if the name belongs to another file of the layer. */
export function parsePyramidDirectory(
  name: string,
): { readonly gridSetDirectory: string; readonly parametersId: ParametersId } | undefined {
  if (/^parameters-.*\.properties$/.test(name) || name.startsWith(".")) return undefined;
  const [, gridSetDirectory = name, parametersId = ""] = /^(.+)_([0-9a-f]{40})$/.exec(name) ?? [];
  return { gridSetDirectory, parametersId: asParametersId(parametersId) };
}
