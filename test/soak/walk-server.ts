import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer, type TestServer } from "../support/server/server.ts";
import { smallTiles } from "../support/server/wms-configuration.ts";
import { type MovableClock, startMovableClock } from "./movable-clock.ts";
import { FORMATS, type LayerName, type Style, type Tile, WALK_LAYERS, ZOOM_STOP } from "./walk-tiles.ts";

/** The settings of a layer that a reload changes. */
export interface LayerSettings {
  readonly isThere: boolean;
  readonly metatile: readonly [number, number];
  readonly styles: readonly Style[];
  readonly connections: number;
}

export type Settings = Readonly<Record<LayerName, LayerSettings>>;

const STANDARD: LayerSettings = { isThere: true, metatile: [2, 2], styles: ["night", "relief"], connections: 4 };
export const FIRST_SETTINGS: Settings = {
  alpha: STANDARD,
  beta: { ...STANDARD, metatile: [3, 5] },
  gamma: { ...STANDARD, metatile: [1, 1], styles: [] },
  kept: { ...STANDARD, metatile: [4, 4], styles: [] },
};

/** Layers without a parameter filter have no styles: the server would ignore the style of a request. */
export const stylesOf = (layer: LayerName): readonly Style[] => ["", ...FIRST_SETTINGS[layer].styles];

/** Tiles of one layer are never truncated, evicted or rendered again. */
export const STORED: LayerName = "kept";

export const offers = (
  settings: Settings,
  { layer, style, format }: Pick<Tile, "layer" | "style" | "format">,
): boolean =>
  settings[layer].isThere &&
  (style === "" || settings[layer].styles.includes(style)) &&
  formatsOf(layer).includes(format);

export const formatsOf = (layer: LayerName): readonly Tile["format"][] => (layer === STORED ? ["png"] : FORMATS);

function configurationOf(url: string, settings: Settings, workers: number): string {
  const layers = WALK_LAYERS.filter((name) => settings[name].isThere).map((name) => {
    const { metatile, styles, connections } = settings[name];
    const grids = name === STORED ? ["EPSG:900913"] : ["EPSG:900913", "EPSG:4326"];
    const filter = { type: "string", key: "STYLES", default: "", values: styles };
    return JSON.stringify({
      name,
      source: { type: "wms", url, layers: [name], connections, timeoutSeconds: 5 },
      gridSubsets: grids.map((gridSet) => ({ gridSet, zoomStop: ZOOM_STOP })),
      formats: formatsOf(name).map((format) => `image/${format}`),
      metatile,
      parameterFilters: styles.length === 0 ? [] : [filter],
      formatsTogether: name === "beta",
      fullWms: name === "alpha",
    });
  });
  const rest = `server: { workers: ${workers} }
jobs: { maxRunningTasks: 8, historyJobs: 100000 }
store: { undoSeconds: 20 }
eviction: { pins: [{ layer: ${STORED} }] }
`;
  return `${smallTiles(url, [], rest)}${layers.map((layer) => `  - ${layer}\n`).join("")}`;
}

/** The server of a walk, with a separate clock, and its configuration. */
export class WalkServer {
  #server: TestServer;
  readonly #url: string;
  readonly clock: MovableClock;
  settings: Settings = FIRST_SETTINGS;
  #workers: number;

  private constructor(server: TestServer, url: string, clock: MovableClock, workers: number) {
    this.#server = server;
    this.#url = url;
    this.clock = clock;
    this.#workers = workers;
  }

  static async start(upstreamUrl: string, workers: number): Promise<WalkServer> {
    const clock = startMovableClock();
    const dataDir = mkdtempSync(join(tmpdir(), "nuthatch-walk-"));
    const configuration = configurationOf(upstreamUrl, FIRST_SETTINGS, workers);
    const server = await startServer({ configuration, dataDir, env: clock.env });
    return new WalkServer(server, upstreamUrl, clock, workers);
  }

  get now(): TestServer {
    return this.#server;
  }

  /** Ends the server and starts it with the present configuration. @returns the exit code */
  async restart(signal: NodeJS.Signals, workers: number): Promise<number | null> {
    const code = await this.#server.kill(signal);
    this.#workers = workers;
    const configuration = configurationOf(this.#url, this.settings, workers);
    this.#server = await startServer({ configuration, dataDir: this.#server.dataDir, env: this.clock.env });
    return code;
  }

  /** The file alone: it counts from the next reload or start on. */
  configure(settings: Settings): void {
    this.settings = settings;
    const file = join(this.#server.dataDir, "nuthatch.yaml");
    writeFileSync(file, configurationOf(this.#url, settings, this.#workers));
  }

  /** Its renderers, or the processes that serve. */
  children(kind: "renderers" | "serving"): number[] {
    return readdirSync("/proc").flatMap((name) => {
      if (!/^\d+$/.test(name)) return [];
      try {
        const fields = readFileSync(`/proc/${name}/stat`, "utf8")
          .replace(/^.*\) /s, "")
          .split(" ");
        const isServing = readFileSync(`/proc/${name}/cmdline`, "utf8").includes("http-worker-process");
        const isChild = Number(fields[1]) === this.#server.pid && fields[0] !== "Z";
        return isChild && isServing === (kind === "serving") ? [Number(name)] : [];
      } catch {
        // It has ended since.
        return [];
      }
    });
  }

  async close(): Promise<void> {
    await this.#server.close();
    this.clock.close();
  }
}
