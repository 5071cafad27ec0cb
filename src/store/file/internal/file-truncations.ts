import { lstatSync, mkdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TileRect } from "../../../grid/grid-set.ts";
import { codeOf } from "../../../lib/error-code.ts";
import type { DeletionListener, TruncationScope, TruncationStore } from "../../truncation-store.ts";
import { directoryName, parseZoomDirectory } from "../file-layout.ts";
import { deleteRange } from "./delete-range.ts";
import { isAbsent, storeError } from "./faults.ts";
import { extensionOf, type FilePaths } from "./file-paths.ts";
import { sweep } from "./sweep.ts";

/** GWC's name of the directory for names that are being deleted. */
const TRASH = "_gwc_in_progress_deletes_";
/**
 * The directory for tiles that a truncation has set aside. Each part has the number of its truncation and its own
 * number in its name. A directory for each truncation would have to be made while the client waits for the answer.
 */
const ASIDE = "_gwc_set_aside_";
/** Truncations as renames. */
export class FileTruncations implements TruncationStore {
  readonly #paths: FilePaths;

  constructor(paths: FilePaths) {
    this.#paths = paths;
    for (const name of [TRASH, ASIDE]) makeAhead(join(paths.root, name));
  }

  plan(scope: TruncationScope): readonly string[] {
    const layer = directoryName(scope.layer);
    // A link can be moved even if its volume is not mounted.
    if (scope.kind === "layer")
      return lstatSync(join(this.#paths.root, layer), { throwIfNoEntry: false }) === undefined ? [] : [layer];
    return this.#paths
      .levelDirectories(scope.layer)
      .filter((name) => {
        const parsed = parseZoomDirectory(name);
        return (
          parsed !== undefined &&
          parsed.gridSetDirectory === directoryName(scope.gridSet) &&
          parsed.parametersId === scope.parametersId &&
          (scope.zooms === undefined || (parsed.z >= scope.zooms.first && parsed.z <= scope.zooms.last))
        );
      })
      .map((name) => `${layer}/${name}`);
  }

  truncate(id: string, names: readonly string[], remains: "keep" | "reclaim"): void {
    const directory = remains === "keep" ? ASIDE : TRASH;
    for (const [n, name] of names.entries()) this.#moveAway(name, directory, `${id}-${n}`);
  }

  discard(id: string): void {
    for (const part of this.#asideParts(id)) this.#moveAway(join(ASIDE, part), TRASH, `aside-${part}`);
  }

  asideIds(): readonly string[] {
    return [...new Set(this.#paths.list(join(this.#paths.root, ASIDE)).map((part) => part.split("-", 1)[0] ?? part))];
  }

  #asideParts(id: string): string[] {
    return this.#paths.list(join(this.#paths.root, ASIDE)).filter((part) => part.startsWith(`${id}-`));
  }

  restore(id: string, names: readonly string[]): void {
    const parts = new Set(this.#asideParts(id));
    for (const [n, name] of names.entries()) {
      const part = `${id}-${n}`;
      if (!parts.has(part)) continue;
      this.#moveAway(name, TRASH, `restored-${part}`);
      const live = join(this.#paths.root, name);
      try {
        mkdirSync(dirname(live), { recursive: true });
        renameSync(join(this.#paths.root, ASIDE, part), live);
      } catch (error) {
        throw storeError(error, "truncated tiles cannot be brought back");
      }
    }
    // An interrupted truncation has more parts if a writer stored tiles before its second attempt.
    this.discard(id);
  }

  /** Renames a name under the root into a directory there. Appends a number if the new name is taken. */
  #moveAway(name: string, directory: string, as: string): void {
    const to = join(this.#paths.root, directory);
    mkdirSync(to, { recursive: true });
    for (let again = 0; ; again++) {
      try {
        renameSync(join(this.#paths.root, name), join(to, `${as}${again === 0 ? "" : `.${again}`}`));
        return;
      } catch (error) {
        if (isAbsent(error)) return;
        if (codeOf(error) !== "ENOTEMPTY" && codeOf(error) !== "EEXIST")
          throw storeError(error, "a directory cannot be dropped");
      }
    }
  }

  deleteRange(
    scope: Parameters<TruncationStore["deleteRange"]>[0],
    rect: TileRect,
    listener: DeletionListener,
    signal: AbortSignal,
  ): Promise<void> {
    const extension = scope.format === undefined ? undefined : extensionOf(scope.format);
    const { chosen = () => true } = scope;
    return deleteRange(this.#paths.zoomPath(scope, rect.z), rect, { extension, chosen }, listener, signal);
  }

  needsSweep(): boolean {
    return this.#paths.list(join(this.#paths.root, TRASH)).length > 0;
  }

  sweep(signal: AbortSignal): Promise<void> {
    return sweep(join(this.#paths.root, TRASH), signal);
  }
}

/** Makes a directory that truncations need before the disk is full: a truncation must work on a full disk. */
function makeAhead(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true });
  } catch (error) {
    // Tiles are readable without the directory. The truncation tries again to make it, and throws if that fails.
    const { code } = storeError(error, "a directory cannot be made");
    if (code !== "full" && code !== "read_only") throw error;
  }
}
