import type { ArchiveSourceOptions } from "../../layer/source-options.ts";
import type { SourceParts } from "../http/http-source.ts";
import { type RenderedImage, type RenderRequest, type Source, SourceError } from "../source.ts";
import { tileData } from "../tiles/tile-data.ts";
import { tileOf } from "../tiles/tile-template.ts";
import type { Archive } from "./archive.ts";
import { openArchive } from "./open-archive.ts";

/** Creates a source that reads tiles of an archive. The first request opens the archive. */
export function createArchiveSource(options: ArchiveSourceOptions, { clock }: Pick<SourceParts, "clock">): Source {
  let opening: Promise<Archive> | undefined;
  const rendering = new Set<Promise<RenderedImage>>();

  const opened = (): Promise<Archive> => {
    opening ??= openArchive(clock, options).catch((error: unknown) => {
      // Lets the next request try again to open the archive.
      opening = undefined;
      throw error;
    });
    return opening;
  };

  async function render(request: RenderRequest): Promise<RenderedImage> {
    const at = tileOf(request);
    const { format } = request;
    const stored = await (await opened()).tile(at);
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
      const rendered = render(request);
      rendering.add(rendered);
      try {
        return await rendered;
      } finally {
        rendering.delete(rendered);
      }
    },
    /** Waits for the renders in progress, and then closes the archive. */
    async [Symbol.asyncDispose]() {
      await Promise.allSettled(rendering);
      // Each render has reported why the archive cannot be opened.
      const archive = await opening?.catch(() => undefined);
      await archive?.[Symbol.asyncDispose]();
    },
  };
}
