import { loadSharp } from "../../image/load-sharp.ts";
import type { DemoSourceOptions } from "../../layer/source-options.ts";
import {
  type Question,
  type RenderedImage,
  type RenderRequest,
  type Source,
  SourceError,
  type UpstreamDocument,
} from "../source.ts";
import { legendSvg, statesSvg, worldSvg } from "./maps.ts";

/**
 * Creates a source of built-in maps from Natural Earth and US atlas data. It needs no network and supports EPSG:4326,
 * 900913 and 2163.
 */
export function createDemoSource(options: DemoSourceOptions): Source {
  return {
    async render(request: RenderRequest, signal: AbortSignal): Promise<RenderedImage> {
      return inWords(async () => {
        const svg = options.dataset === "states" ? statesSvg(request) : worldSvg(request);
        const { data, info } = await (await pictureOf(svg, signal))
          .ensureAlpha()
          .raw()
          .toBuffer({ resolveWithObject: true });
        return { kind: "raster", raster: { width: info.width, height: info.height, channels: 4, data } };
      });
    },
    async query(question: Question, signal: AbortSignal): Promise<UpstreamDocument> {
      return inWords(async () => {
        if (question.kind !== "legend" || options.dataset !== "states")
          throw new SourceError("exception", "the demo layers only have legends of the states");
        if (question.format !== "image/png")
          throw new SourceError("exception", `FORMAT: expected image/png, got ${question.format}`);
        const picture = await pictureOf(legendSvg(question.style), signal);
        return { contentType: "image/png", bytes: await picture.png().toBuffer() };
      });
    },
    async [Symbol.asyncDispose]() {},
  };
}

async function pictureOf(svg: string, signal: AbortSignal) {
  const sharp = await loadSharp();
  if (signal.aborted) throw new SourceError("cancelled", "cancelled");
  return sharp(Buffer.from(svg), { limitInputPixels: false, unlimited: true });
}

async function inWords<T>(render: () => Promise<T>): Promise<T> {
  try {
    return await render();
  } catch (error) {
    if (error instanceof SourceError) throw error;
    throw new SourceError("exception", "the demo layer could not be rendered", { cause: error });
  }
}
