import { loadSharp } from "../../image/load-sharp.ts";
import type { Raster } from "../../image/raster.ts";
import type { DemoSourceOptions } from "../../layer/layer.ts";
import {
  type Question,
  type RenderedImage,
  type RenderRequest,
  type Source,
  SourceError,
  type UpstreamDocument,
} from "../source.ts";
import { legendSvg } from "./legend.ts";
import { statesSvg } from "./states-map.ts";
import { worldSvg } from "./world-map.ts";

/**
 * Creates a source of built-in maps from Natural Earth and US atlas data. It needs no network and supports EPSG:4326,
 * 900913 and 2163.
 */
export function createDemoSource(options: DemoSourceOptions): Source {
  return {
    async render(request: RenderRequest, signal: AbortSignal): Promise<RenderedImage> {
      return inWords(async () => {
        const svg = options.dataset === "states" ? statesSvg(request) : worldSvg(request);
        const raster = await rendered(svg, signal);
        if (raster.width !== request.width || raster.height !== request.height) {
          throw new SourceError("wrong_size", `rendered were ${raster.width} x ${raster.height} pixels`);
        }
        return { kind: "raster", raster };
      });
    },
    async query(question: Question, signal: AbortSignal): Promise<UpstreamDocument> {
      return inWords(async () => {
        if (question.kind !== "legend" || options.dataset !== "states")
          throw new SourceError("exception", "the demo layers answer legends of the states only");
        if (question.format !== "image/png")
          throw new SourceError("exception", `FORMAT: expected image/png, got ${question.format}`);
        const { width, height, data } = await rendered(legendSvg(question.style), signal);
        const sharp = await loadSharp();
        const png = await sharp(data, { raw: { width, height, channels: 4 } })
          .png()
          .toBuffer();
        return { contentType: "image/png", bytes: png };
      });
    },
    async [Symbol.asyncDispose]() {},
  };
}

async function rendered(svg: string, signal: AbortSignal): Promise<Raster> {
  const sharp = await loadSharp();
  if (signal.aborted) throw new SourceError("cancelled", "cancelled");
  const { data, info } = await sharp(Buffer.from(svg), { limitInputPixels: false, unlimited: true })
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, channels: 4, data };
}

async function inWords<T>(render: () => Promise<T>): Promise<T> {
  try {
    return await render();
  } catch (error) {
    if (error instanceof SourceError) throw error;
    throw new SourceError("exception", "the demo layer could not be rendered", { cause: error });
  }
}
