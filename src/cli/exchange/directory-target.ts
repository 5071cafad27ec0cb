import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TileX, Zoom } from "../../grid/grid-set.ts";
import { contentTypeOf, type TileFormat } from "../../layer/format.ts";
import { isMap } from "../../lib/is-map.ts";
import { CommandFailure, EXIT } from "../exit.ts";
import type { ExportProgress, ExportTarget } from "./export-target.ts";

/** The order of the rows in a tree: from the top, or from the bottom as in TMS. */
export const LAYOUTS = ["slippy", "tms"] as const;
export type Layout = (typeof LAYOUTS)[number];

export interface DirectoryOptions {
  readonly to: string;
  readonly format: TileFormat;
  readonly layout: Layout;
  /** The number of rows of each level. */
  readonly rows: (z: Zoom) => number;
  readonly purpose: string;
  readonly isContinued: boolean;
  /** Whether the directory may already contain files. */
  readonly isForced: boolean;
}

/** The file with the progress of an unfinished export. */
const PROGRESS_FILE = ".nuthatch-export.json";

/** Writes a tree of files, `z/x/y.ext`. Each file appears with its whole content. */
export function directoryTarget(options: DirectoryOptions): ExportTarget {
  const { to, format, layout, rows, purpose, isContinued, isForced } = options;
  const progressFile = join(to, PROGRESS_FILE);
  const begun = isContinued ? readProgress(progressFile, purpose) : undefined;
  if (begun === undefined && !isForced && existsSync(to) && readdirSync(to).length > 0)
    throw new CommandFailure(`${to} is not empty: --force writes into it`, EXIT.failure);
  mkdirSync(to, { recursive: true });
  const made = new Set<string>();
  const directoryOf = (z: Zoom, x: TileX): string => {
    const path = join(to, String(z), String(x));
    if (!made.has(path)) {
      // Bounded. The walk visits the columns block by block, so old entries are not needed.
      if (made.size > 10_000) made.clear();
      mkdirSync(path, { recursive: true });
      made.add(path);
    }
    return path;
  };
  return {
    begun,
    add(tiles, progress) {
      for (const { z, x, fromTop, bytes } of tiles) {
        const y = layout === "slippy" ? fromTop : rows(z) - 1 - fromTop;
        writeWhole(join(directoryOf(z, x), `${y}.${extensionOf(format, bytes)}`), bytes);
      }
      if (isContinued) writeWhole(progressFile, JSON.stringify({ purpose, progress }));
    },
    async finish() {
      rmSync(progressFile, { force: true });
    },
    // The written files are complete, and may be among files that existed before.
    close: () => undefined,
  };
}

function writeWhole(path: string, content: Uint8Array | string): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, content);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Returns the extension of a file: `png` for all kinds of PNG. For a mixed format the picture decides. */
function extensionOf(format: TileFormat, bytes: Uint8Array): string {
  if (format.kind === "data") return format.extension;
  return contentTypeOf(format, bytes).slice("image/".length);
}

function readProgress(file: string, purpose: string): ExportProgress | undefined {
  if (!existsSync(file)) return undefined;
  const saved: unknown = JSON.parse(readFileSync(file, "utf8"));
  if (!isMap(saved) || saved["purpose"] !== purpose)
    throw new CommandFailure(
      `${file} belongs to another export: remove it, or name the same layer and range as before`,
      EXIT.failure,
    );
  return progressOf(saved["progress"]);
}

function progressOf(saved: unknown): ExportProgress | undefined {
  return isProgress(saved) ? saved : undefined;
}

const isProgress = (value: unknown): value is ExportProgress =>
  isMap(value) && typeof value["tiles"] === "number" && isMap(value["levels"]);
