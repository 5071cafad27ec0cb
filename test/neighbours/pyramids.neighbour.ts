import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished } from "vitest";
import { clientOf } from "../support/server/run-program.ts";
import { ended, seed, startServer } from "../support/server/server.ts";
import { smallTiles } from "../support/server/wms-configuration.ts";
import { startUpstream } from "../support/upstream/upstream.ts";
import { fromGo, fromPyPi, neighbour } from "./installed.ts";
import { runPython } from "./python.ts";

const python = fromPyPi("pmtiles==3.8.1", "pymbtiles==0.5.0");
const goPmtiles = fromGo("github.com/protomaps/go-pmtiles@v1.31.2");

neighbour("exported pyramids are read by pmtiles, pymbtiles and go-pmtiles", [python, goPmtiles], async () => {
  const upstream = await startUpstream();
  const server = await startServer({ configuration: smallTiles(upstream.url, [{ name: "roads" }]) });
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-pyramids-"));
  onTestFinished(async () => {
    await server.close();
    await upstream.close();
    rmSync(directory, { recursive: true, force: true });
  });
  await ended(
    server,
    await seed(server, "roads", { zoomStart: 0, zoomStop: 3, gridSetId: "EPSG:900913", format: "image/png" }),
  );
  const [pmtiles, mbtiles] = [join(directory, "roads.pmtiles"), join(directory, "roads.mbtiles")];
  const run = clientOf(() => server.url);
  for (const file of [pmtiles, mbtiles]) await run(["export", "roads", "--to", file]);
  const one = await (await fetch(`${server.url}/xyz/roads/3/1/2.png`)).arrayBuffer();
  const same = Buffer.from(one).toString("base64");
  expect(await runPython("read-pyramids.py", [pmtiles, mbtiles], { packages: python })).toEqual({
    pmtiles: { levels: [0, 3], tiles: 85, tile: same },
    mbtiles: { tiles: 85, format: "png", tile: same },
  });
  const { stdout } = await promisify(execFile)(join(goPmtiles.directory, "go-pmtiles"), ["show", pmtiles]);
  expect(stdout).toMatch(/max zoom: 3/);
  await promisify(execFile)(join(goPmtiles.directory, "go-pmtiles"), ["verify", pmtiles]);
});
