import { isAbsolute } from "node:path";
import { DISK_LAYOUTS } from "../../layer/tiles-on-disk.ts";
import { placeholdersOf } from "../../source/tiles/tile-template.ts";
import { expected, hasControlCharacter, map, mimeType, oneOf, optional, text, unlessUnfit, wrong } from "./fields.ts";

const KNOWN = ["z", "x", "y", "-y"];

export const TilesOnDiskSchema = map({
  gridSet: text.describe("A grid set of the layer."),
  format: optional(mimeType).describe("The MIME type of the tiles. Default: the first format of the layer."),
  path: text
    .refine((path) => isAbsolute(path) && !hasControlCharacter(path), unlessUnfit("an absolute path"))
    .describe("The directory of the tiles. Without layout: the path of a tile with {z}, {x}, and {y} or {-y}."),
  layout: optional(oneOf(DISK_LAYOUTS)).describe("The directories and names of the files."),
  rows: oneOf(["bottom", "top"]).default("bottom").describe("The edge from which the layout counts rows."),
  extension: optional(
    text.refine((extension) => /^[\w-]{1,16}$/.test(extension), unlessUnfit("letters, digits and hyphens")),
  ).describe("The extension of the files, without the dot. Default: the extension of the format."),
}).superRefine(({ path, layout, extension }, context) => {
  const names = placeholdersOf(path);
  if (layout !== undefined) {
    if (names.length > 0) expected(context, ["path"], "no placeholders beside layout");
    return;
  }
  if (extension !== undefined)
    wrong(context, ["extension"], "is given, but without layout the path has the whole name");
  if (names.some((name) => !KNOWN.includes(name)))
    expected(context, ["path"], "no other placeholders than {z}, {x}, {y}, {-y}");
  else if (!["z", "x"].every((name) => names.includes(name)) || !(names.includes("y") || names.includes("-y")))
    expected(context, ["path"], "{z}, {x} and {y} or {-y}, as there is no layout");
});
