import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startServer, type TestServer } from "../../support/server/server.ts";
import { type FixtureTile, VECTOR_TILE, writePmtiles } from "../../support/stores/archive-fixture.ts";
import { until } from "../../support/until.ts";
import { renderAfter, startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

/* Files whose change is a change of all data of a layer: an archive, and a file that a layer names. */

const directory = mkdtempSync(join(tmpdir(), "nuthatch-watched-"));
const archive = join(directory, "roads.pmtiles");
const mapFile = join(directory, "roads.map");
let upstream: Upstream;
let server: TestServer;

function write(file: string, text: string): void {
  const tile: FixtureTile = { z: 0, x: 0, y: 0, bytes: Buffer.concat([VECTOR_TILE, Buffer.from(text)]) };
  writePmtiles(file, { type: "mvt", tiles: [tile] });
}

beforeAll(async () => {
  upstream = await startUpstream();
  upstream.behaviour = renderAfter(0);
  write(archive, "first");
  writeFileSync(mapFile, "MAP");
  server = await startServer({
    configuration: `layers:
  - name: archive
    source: { type: pmtiles, file: "${archive}" }
  - name: mapserver
    source: { type: wms, url: "${upstream.url}" }
    gridSubsets: [{ gridSet: EPSG:900913, zoomStop: 2 }]
    formats: [image/png]
    updateSources: [{ type: files, paths: ["${mapFile}"], settleSeconds: 0, operation: truncate }]`,
  });
  for (const file of [archive, mapFile]) await watched(file);
});

afterAll(async () => {
  await server?.close();
  await upstream?.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Waits until the server has recorded a file. */
const watched = (file: string): Promise<true> =>
  until("the file is watched", async () => {
    const isRecorded = server
      .log()
      .split("\n")
      .some((line) => line.includes("a file is watched") && line.includes(file));
    return isRecorded ? true : undefined;
  });

const tileText = async (): Promise<string> => await (await fetch(`${server.url}/xyz/archive/0/0/0.pbf`)).text();

test("an archive that was replaced is opened anew, also while the server was away", async () => {
  expect(await tileText()).toContain("first");
  write(`${archive}.new`, "second");
  renameSync(`${archive}.new`, archive);
  await until("the second archive is served", async () => ((await tileText()).includes("second") ? true : undefined));
  await server.kill("SIGKILL");
  write(`${archive}.new`, "third");
  renameSync(`${archive}.new`, archive);
  server = await server.restart();
  await until("the third archive is served", async () => ((await tileText()).includes("third") ? true : undefined));
});

test("a changed file that a layer names removes the tiles of the layer", async () => {
  const path = `${server.url}/xyz/mapserver/0/0/0.png`;
  await (await fetch(path)).arrayBuffer();
  writeFileSync(mapFile, "MAP NAME changed");
  const status = await until("the tile is gone", async () => {
    const answer = await fetch(path, { headers: { "Cache-Control": "only-if-cached" } });
    await answer.arrayBuffer();
    return answer.status === 504 ? answer.status : undefined;
  });
  expect(status).toBe(504);
});
