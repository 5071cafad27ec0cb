import { loadSharp } from "../image/load-sharp.ts";
import type { DemoSourceOptions } from "../layer/layer.ts";
import { statesSvg } from "./demo/states-map.ts";
import { worldSvg } from "./demo/world-map.ts";
import { type Drawing, type DrawRequest, type Source, SourceError } from "./source.ts";

/** Built-in pictures of Natural Earth and US atlas data: no network, correct in EPSG:4326, 900913 and 2163. */
export function createDemoSource(options: DemoSourceOptions): Source {
  return {
    async draw(request: DrawRequest, signal: AbortSignal): Promise<Drawing> {
      try {
        const svg = options.dataset === "states" ? statesSvg(request) : worldSvg(request);
        const sharp = await loadSharp();
        if (signal.aborted) throw new SourceError("cancelled", "cancelled");
        const { data, info } = await sharp(Buffer.from(svg), { limitInputPixels: false, unlimited: true })
          .ensureAlpha()
          .raw()
          .toBuffer({ resolveWithObject: true });
        if (info.width !== request.width || info.height !== request.height) {
          throw new SourceError("wrong_size", `drawn were ${info.width} x ${info.height} pixels`);
        }
        return { kind: "raster", raster: { width: info.width, height: info.height, channels: 4, data } };
      } catch (error) {
        if (error instanceof SourceError) throw error;
        throw new SourceError("exception", "the demo layer could not be drawn", { cause: error });
      }
    },
    async [Symbol.asyncDispose]() {},
  };
}
