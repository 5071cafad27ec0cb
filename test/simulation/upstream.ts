import type { SourceOptions } from "../../src/layer/source-options.ts";
import { type RenderedImage, type RenderRequest, type Source, SourceError } from "../../src/source/source.ts";
import { LAST_ZOOM, TILE_SIDE } from "./configuration.ts";
import { dataOf, pictureOf, placeOf, type Shown } from "./picture.ts";
import type { Scheduler, SimulatedProcess } from "./scheduler.ts";

export const MOODS = ["well", "slow", "failing", "busy", "hanging"] as const;
export type Mood = (typeof MOODS)[number];

/** The map servers: the data of each layer has a version, and an answer shows the version of its request's arrival. */
export class SimulatedUpstream {
  readonly #scheduler: Scheduler;
  readonly #versions = new Map<string, number>();
  mood: Mood = "well";
  /** Whether an answer is lost now and then, in any mood. */
  losesAnswers = true;
  /** The number of requests, and of answers that were no picture. */
  requests = 0;
  faults = 0;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  versionOf(layer: string): number {
    return this.#versions.get(layer) ?? 1;
  }

  /** The data of a layer changes. Returns the new version. */
  change(layer: string): number {
    const version = this.versionOf(layer) + 1;
    this.#versions.set(layer, version);
    return version;
  }

  /** Returns a source as a renderer has it. */
  source(options: SourceOptions, owner: SimulatedProcess): Source {
    const layer = options.type === "wms" ? (options.layers[0] ?? "") : "";
    return {
      render: (request, signal) => this.#render(layer, request, owner, signal),
      async [Symbol.asyncDispose]() {},
    };
  }

  #render(layer: string, request: RenderRequest, owner: SimulatedProcess, signal: AbortSignal): Promise<RenderedImage> {
    const { chance } = this.#scheduler;
    this.requests++;
    return new Promise((resolve, reject) => {
      const cancelled = (): void => reject(new SourceError("cancelled", "cancelled"));
      if (signal.aborted) return cancelled();
      signal.addEventListener("abort", cancelled, { once: true });
      owner.later(chance.below(4), () => {
        const version = this.versionOf(layer);
        const { mood } = this;
        const isSlow = mood === "slow" || chance.below(40) === 0;
        const ms = mood === "hanging" ? 20_000 : isSlow ? 200 + chance.below(6_000) : 2 + chance.below(60);
        owner.later(ms, () => {
          signal.removeEventListener("abort", cancelled);
          const failure = this.#failure(mood);
          if (failure === undefined) return resolve(imageOf(layer, request, version));
          this.faults++;
          reject(failure);
        });
      });
    });
  }

  #failure(mood: Mood): SourceError | undefined {
    const { chance } = this.#scheduler;
    switch (mood) {
      case "hanging":
        return new SourceError("timeout", "no answer within 20 s");
      case "busy":
        return chance.below(3) > 0 ? new SourceError("busy", "HTTP 429", { retryAfterMs: 1_000 }) : undefined;
      case "failing":
        return chance.below(4) > 0
          ? new SourceError(chance.pick(["server_error", "reset", "refused", "http_status", "truncated"]), "a fault")
          : undefined;
      default:
        return this.losesAnswers && chance.below(400) === 0 ? new SourceError("reset", "a lost connection") : undefined;
    }
  }
}

function imageOf(
  layer: string,
  { gridSet, extent, width, height, format, parameters }: RenderRequest,
  version: number,
): RenderedImage {
  const resolution = (extent.maxX - extent.minX) / width;
  const z = LAST_ZOOM - Math.round(Math.log2(resolution));
  const tile = resolution * TILE_SIDE;
  const x = Math.round((extent.minX - gridSet.extent.minX) / tile);
  const y = Math.round((extent.minY - gridSet.extent.minY) / tile);
  const [columns, rows] = [width / TILE_SIDE, height / TILE_SIDE];
  const style = parameters["STYLES"] ?? "";
  // Rows of the picture count from the top.
  const shown = (column: number, row: number): Shown => ({
    place: placeOf(layer, style, z, x + column, y + rows - 1 - row),
    version,
  });
  if (format.kind === "data") return { kind: "data", bytes: dataOf(shown(0, 0)) };
  return { kind: "raster", raster: pictureOf(columns, rows, shown) };
}
