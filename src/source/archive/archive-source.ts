import type { ArchiveSourceOptions } from "../../layer/source-options.ts";
import type { SourceParts } from "../http/http-source.ts";
import { type RenderedImage, type RenderRequest, type Source, SourceError } from "../source.ts";
import { tileData } from "../tiles/tile-data.ts";
import { tileOf } from "../tiles/tile-template.ts";
import type { Archive } from "./archive.ts";
import { currentFile, openArchive } from "./open-archive.ts";

/** For this time an opened archive is not compared with the file at its path. */
const LOOK_MS = 1_000;
/** A file that was written this long ago is complete. Shorter than the settling time after which tiles become stale. */
const SETTLED_MS = 2_000;

/** An archive that was opened, and the renders that read it. */
interface Opened {
  readonly stamp: string | undefined;
  readonly archive: Promise<Archive>;
  readonly rendering: Set<Promise<unknown>>;
}

/**
 * Creates a source that reads tiles of an archive. The first request opens the archive. A file that was replaced or
 * rewritten is opened anew, when it has not been written to for some time.
 */
export function createArchiveSource(options: ArchiveSourceOptions, { clock }: Pick<SourceParts, "clock">): Source {
  let current: Opened | undefined;
  let looking: Promise<Opened> | undefined;
  let lookedMs = Number.NEGATIVE_INFINITY;
  const closing = new Set<Promise<void>>();

  /** Closes an archive after the renders that read it. */
  function close({ archive, rendering }: Opened): void {
    const closed = Promise.allSettled(rendering)
      // Each render has reported why the archive cannot be opened.
      .then(() => archive.catch(() => undefined))
      .then((opened) => opened?.[Symbol.asyncDispose]())
      .finally(() => closing.delete(closed));
    closing.add(closed);
  }

  async function look(): Promise<Opened> {
    lookedMs = clock.monotonicNow();
    const file = await currentFile(options.file);
    const stamp = file?.stamp;
    // While a file is being replaced it may be away for a moment, and while it is being written it changes.
    const isSettled = file !== undefined && Math.abs(clock.now() - file.modifiedMs) >= SETTLED_MS;
    if (current !== undefined && (stamp === current.stamp || !isSettled)) return current;
    if (current !== undefined) close(current);
    const next: Opened = { stamp, archive: openArchive(clock, options), rendering: new Set() };
    current = next;
    // Lets the next request try again to open the archive.
    next.archive.catch(() => {
      if (current === next) current = undefined;
    });
    return next;
  }

  async function opened(): Promise<Opened> {
    if (current !== undefined && clock.monotonicNow() - lookedMs < LOOK_MS) return current;
    looking ??= look().finally(() => {
      looking = undefined;
    });
    return await looking;
  }

  async function render(request: RenderRequest): Promise<RenderedImage> {
    const at = tileOf(request);
    const { format } = request;
    const { archive, rendering } = await opened();
    const reading = archive.then((one) => one.tile(at));
    rendering.add(reading);
    const stored = await reading.finally(() => rendering.delete(reading));
    const isThere = stored !== undefined && stored.byteLength > 0;
    const bytes = isThere && format.kind === "data" ? tileData(stored, format) : stored;
    // A missing tile is not a fault: many archives omit tiles of the sea and tiles without features.
    if (!isThere || bytes === undefined)
      throw new SourceError("no_tile", `the archive has no tile ${at.z}/${at.x}/${at.fromTop}`);
    return format.kind === "data" ? { kind: "data", bytes } : { kind: "encoded", bytes };
  }

  return {
    async render(request, signal) {
      if (signal.aborted) throw new SourceError("cancelled", "cancelled", { cause: signal.reason });
      return await render(request);
    },
    /** Waits for the renders in progress, and then closes the archive. */
    async [Symbol.asyncDispose]() {
      await looking?.catch(() => undefined);
      if (current !== undefined) close(current);
      await Promise.all(closing);
    },
  };
}
