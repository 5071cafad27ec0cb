import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { runProgram } from "../support/server/run-program.ts";
import { startServer } from "../support/server/server.ts";
import { startUpstream } from "../support/upstream/upstream.ts";

const PYTHON = "/usr/bin/python3";
const hasMapProxy = existsSync("/usr/lib/python3/dist-packages/mapproxy/seed/script.py");
if (!hasMapProxy) console.warn("SKIPPED: the test of nuthatch import mapproxy needs Debian's python3-mapproxy");

const SEED = "import sys; from mapproxy.seed.script import main; sys.exit(main())";

test.skipIf(!hasMapProxy)(
  "a cache that MapProxy has made is served, and its tiles are not rendered again",
  async () => {
    const upstream = await startUpstream();
    const directory = mkdtempSync(join(tmpdir(), "nuthatch-mapproxy-"));
    onTestFinished(async () => {
      await upstream.close();
      rmSync(directory, { recursive: true, force: true });
    });
    const file = join(directory, "mapproxy.yaml");
    writeFileSync(
      file,
      `services: { wmts: }
layers:
  - { name: roads, title: Roads, sources: [roads_cache] }
  - { name: utm, title: UTM, sources: [utm_cache] }
caches:
  roads_cache: { grids: [GLOBAL_WEBMERCATOR], sources: [up], meta_size: [2, 2], meta_buffer: 0 }
  utm_cache: { grids: [utm33], sources: [up], meta_size: [2, 2], meta_buffer: 8, cache: { type: file, directory_layout: mp } }
sources:
  up: { type: wms, req: { url: "${upstream.url}", layers: roads } }
grids:
  utm33: { srs: EPSG:25833, bbox: [300000, 5700000, 500000, 5850000], origin: nw, res: [800, 400, 200, 100] }
globals:
  image: { paletted: false }
`,
    );
    writeFileSync(
      join(directory, "seed.yaml"),
      "seeds: { web: { caches: [roads_cache], levels: [0, 1, 2] }, utm: { caches: [utm_cache], levels: [0, 1, 2] } }\n",
    );
    const args = ["-c", SEED, "-q", "-c", "1", "--seed", "ALL", "-f", file, "-s", join(directory, "seed.yaml")];
    await promisify(execFile)(PYTHON, args, { cwd: directory });
    const written = join(directory, "nuthatch.yaml");
    const imported = await runProgram(["import", "mapproxy", file, "-o", written]);
    expect(imported.code, imported.stderr).toBe(0);
    const requested = upstream.asked.length;
    expect(requested).toBeGreaterThan(0);

    const server = await startServer({ env: { NUTHATCH_CONFIG: written } });
    onTestFinished(() => server.close());
    const bytesOf = async (path: string): Promise<Buffer> => {
      const answer = await fetch(`${server.url}${path}`);
      expect([path, answer.status]).toEqual([path, 200]);
      return Buffer.from(await answer.arrayBuffer());
    };
    // MapProxy counts the rows of both grids from the top.
    const web = join(directory, "cache_data/roads_cache_EPSG3857/02/000/000/001/000/000/002.png");
    expect(await bytesOf("/xyz/roads/2/1/2.png")).toEqual(readFileSync(web));
    const utm = join(directory, "cache_data/utm_cache_EPSG25833/02/0000/0002/0000/0001.png");
    expect(await bytesOf("/service/wmts/rest/utm/utm33/02/1/2?format=image/png")).toEqual(readFileSync(utm));
    expect(upstream.asked.length, "tiles on the disk are not rendered").toBe(requested);
    await bytesOf("/xyz/roads/3/0/0.png");
    expect(upstream.asked.length, "a tile that MapProxy lacks is rendered").toBe(requested + 1);

    const truncation = "<truncateLayer><layerName>roads</layerName></truncateLayer>";
    await fetch(`${server.url}/rest/masstruncate`, { method: "POST", body: truncation });
    await bytesOf("/xyz/roads/2/1/2.png");
    expect(upstream.asked.length, "a truncated tile does not come back from the disk").toBe(requested + 2);
  },
);
