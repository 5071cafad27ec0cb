import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Configuration } from "../../src/configuration/configuration.ts";
import { loadConfiguration } from "../../src/configuration/load.ts";

/** The levels of the grid: the last has four blocks of the ledger. */
export const LAST_ZOOM = 8;
/** The side of a tile, pixels. */
export const TILE_SIDE = 8;
const WORLD = TILE_SIDE * 2 ** LAST_ZOOM;

const VECTOR = "application/vnd.mapbox-vector-tile";

const layer = (name: string, more: string): string =>
  `  - name: ${name}
    source: { type: wms, url: "http://${name}.upstream.test/wms", layers: [${name}], connections: 6, timeoutSeconds: 20 }
    gridSubsets: [{ gridSet: G }]
    ${more}
`;

/** Few layers, all of them hot: pictures in metatiles, with and without styles, and vector tiles of any size. */
const TEXT = `gridSets:
  - { id: G, srs: "EPSG:3857", extent: [0, 0, ${WORLD}, ${WORLD}], tileSize: [${TILE_SIDE}, ${TILE_SIDE}], levels: ${LAST_ZOOM + 1} }
jobs: { maxRunningTasks: 6, historyJobs: 2000 }
store: { undoSeconds: 300 }
layers:
${layer("styled", 'metatile: [3, 3]\n    parameterFilters: [{ type: string, key: STYLES, default: "", values: [night] }]')}${layer("wide", "metatile: [4, 2]")}${layer("vector", `formats: ["${VECTOR}"]`)}${layer("ageing", `formats: ["${VECTOR}"]\n    expireCacheSeconds: 900`)}`;

/** Loads the configuration of all simulations. Their data directory is on the simulated disk. */
export async function simulatedConfiguration(): Promise<Configuration> {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-simulation-"));
  try {
    const file = join(directory, "nuthatch.yaml");
    writeFileSync(file, TEXT);
    const loaded = await loadConfiguration({ env: {}, flags: { config: file, "data-dir": "/data" }, cwd: "/" });
    if (!loaded.ok) throw new Error(loaded.error.map(({ message }) => message).join("\n"));
    return loaded.value;
  } finally {
    rmSync(directory, { recursive: true });
  }
}
