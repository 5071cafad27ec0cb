import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SeededCache } from "./mapcache.ts";
import { filesBelow, runTool } from "./tools.ts";

/** Seeds every tile from zoom 0 on with mapproxy-seed (Debian: python3-mapproxy): two processes, true-colour PNG. */
export async function seedByMapProxy(upstream: string, metatile: number, zoomStop: number): Promise<SeededCache> {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-bench-"));
  const levels = Array.from({ length: zoomStop + 1 }, (_, z) => z).join(", ");
  writeFileSync(
    join(directory, "mapproxy.yaml"),
    `services: { tms: }
layers: [{ name: roads, title: roads, sources: [roads_cache] }]
caches:
  roads_cache: { grids: [GLOBAL_WEBMERCATOR], sources: [up], meta_size: [${metatile}, ${metatile}], meta_buffer: 0, cache: { type: file } }
sources:
  up: { type: wms, req: { url: "${upstream}", layers: roads } }
globals:
  image: { paletted: false }
  cache: { base_dir: ${directory}/cache, lock_dir: ${directory}/locks, tile_lock_dir: ${directory}/tile-locks }
`,
  );
  writeFileSync(join(directory, "seed.yaml"), `seeds: { all: { caches: [roads_cache], levels: [${levels}] } }\n`);
  const files = ["-f", join(directory, "mapproxy.yaml"), "-s", join(directory, "seed.yaml")];
  const run = await runTool("mapproxy-seed", ["-q", "-c", "2", "--seed", "ALL", ...files]);
  const { files: tiles, bytes } = filesBelow(join(directory, "cache"), ".png");
  rmSync(directory, { recursive: true, force: true });
  return { ...run, tiles, bytes };
}
