import { loadSharp } from "../image/load-sharp.ts";
import type { Raster } from "../image/raster.ts";
import type { DemoSourceOptions } from "../layer/layer.ts";
import { legendSvg } from "./demo/legend.ts";
import { statesSvg } from "./demo/states-map.ts";
import { worldSvg } from "./demo/world-map.ts";
import {
  type Drawing,
  type DrawRequest,
  type Question,
  type Source,
  SourceError,
  type UpstreamDocument,
} from "./source.ts";

/** Built-in pictures of Natural Earth and US atlas data: no network, correct in EPSG:4326, 900913 and 2163. */
export function createDemoSource(options: DemoSourceOptions): Source {
  return {
    async draw(request: DrawRequest, signal: AbortSignal): Promise<Drawing> {
      return inWords(async () => {
        const svg = options.dataset === "states" ? statesSvg(request) : worldSvg(request);
        const raster = await drawn(svg, signal);
        if (raster.width !== request.width || raster.height !== request.height) {
          throw new SourceError("wrong_size", `drawn were ${raster.width} x ${raster.height} pixels`);
        }
        return { kind: "raster", raster };
      });
    },
    async ask(question: Question, signal: AbortSignal): Promise<UpstreamDocument> {
      return inWords(async () => {
        if (question.kind !== "legend" || options.dataset !== "states")
          throw new SourceError("exception", "the demo layers answer legends of the states only");
        if (question.format !== "image/png")
          throw new SourceError("exception", `FORMAT: expected image/png, got ${question.format}`);
        const { width, height, data } = await drawn(legendSvg(question.style), signal);
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

async function drawn(svg: string, signal: AbortSignal): Promise<Raster> {
  const sharp = await loadSharp();
  if (signal.aborted) throw new SourceError("cancelled", "cancelled");
  const { data, info } = await sharp(Buffer.from(svg), { limitInputPixels: false, unlimited: true })
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, channels: 4, data };
}

async function inWords<T>(draw: () => Promise<T>): Promise<T> {
  try {
    return await draw();
  } catch (error) {
    if (error instanceof SourceError) throw error;
    throw new SourceError("exception", "the demo layer could not be drawn", { cause: error });
  }
}
