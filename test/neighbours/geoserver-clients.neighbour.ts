import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { startServer, type TestServer } from "../support/server/server.ts";
import { smallTiles } from "../support/server/wms-configuration.ts";
import { startUpstream, type Upstream } from "../support/upstream/upstream.ts";
import { fromPyPi, neighbour } from "./installed.ts";
import { runPython } from "./python.ts";

/** Clients of GeoServer's REST interface, with the addresses of its embedded cache. */
const geoserverPy = fromPyPi("geoserver-py==0.2.1");
const geoservercloud = fromPyPi("geoservercloud==0.8.14");
const gsrest = fromPyPi("gsrest==0.2.1", "--no-deps");
const geonode = fromPyPi("geonode==5.1.1", "--no-deps");
const restconfig = fromPyPi("geoserver-restconfig==2.0.16");

let upstream: Upstream;
let server: TestServer;
let directory: string;
beforeAll(async () => {
  upstream = await startUpstream();
  directory = mkdtempSync(join(tmpdir(), "nuthatch-neighbour-"));
  const more = `server: { mounts: ["/", "/geoserver/gwc", "/geoserver/{workspace}/gwc"] }
config: { writable: true }
users: [{ name: admin, password: geoserver, roles: [admin] }]
`;
  server = await startServer({
    configuration: smallTiles(upstream.url, [{ name: "ws:roads" }, { name: "other" }], more),
  });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Stores a tile, and returns whether it is stored. */
const isStored = async (): Promise<boolean> => {
  const tile = await fetch(`${server.url}/xyz/ws:roads/1/0/0.png`);
  return tile.headers.get("geowebcache-cache-result") === "HIT";
};
const script = (name: string, packages: typeof gsrest, env?: Record<string, string>) =>
  runPython(name, [`${server.url}/geoserver`, join(directory, name)], { packages, ...(env && { env }) });

neighbour("geoserver-py calls the interface of GeoWebCache", [geoserverPy], async () => {
  await isStored();
  expect(await isStored()).toBe(true);
  expect(await script("call-geoserver-py.py", geoserverPy)).toEqual({
    layers: expect.arrayContaining(["ws:roads", "other"]),
    layer: 1,
    // The layer is made. The client expects JSON where GeoWebCache answers a sentence.
    insert_layer: expect.stringContaining("JSONDecodeError"),
    made_layer: ["wmsLayer"],
    delete_layer: "Deleted",
    grid_sets: true,
    insert_grid_set: "",
    made_grid_set: { number: 2056 },
    delete_grid_set: "Deleted",
    // GeoWebCache makes a store by PUT alone, and names the format of bounds by the last part of the path.
    insert_store_by_post: expect.stringContaining("405"),
    bounds: expect.stringContaining("format extension : java.xml"),
    stores: expect.any(Array),
    quota: ["cacheQuotaConfiguration"],
    quota_xml: 1,
    update_quota: "Updated",
    global: ["global"],
    update_global: "Updated",
    types: 1,
    truncate: "",
    // As GeoWebCache without a store in memory.
    statistics: expect.stringContaining("404"),
    reload: true,
    tasks: { "long-array-array": [] },
  });
  expect(await isStored()).toBe(false);
});

neighbour("geoservercloud publishes grid sets and a store, and finds its layers", [geoservercloud], async () => {
  const made = ["", 201];
  const present = ["", 200];
  expect(await script("call-geoservercloud.py", geoservercloud)).toEqual({
    missing: ["Unknown layer: ws:none", 404],
    layer: 200,
    publish_existing: present,
    // A layer of GeoServer's catalogue has no address of a map server.
    publish_new: expect.stringContaining(
      'root is wmsLayer or mbtilesLayer or arcgisLayer, got the root "GeoServerLayer"',
    ),
    delete_missing: ["Unknown layer: ws:none", 404],
    ...Object.fromEntries(
      [2056, 21781, 3857].flatMap((epsg) => [
        [`grid_set_${epsg}`, made],
        [`grid_set_${epsg}_again`, present],
      ]),
    ),
    store: made,
    wmts: expect.arrayContaining(["other", "ws:roads"]),
    wmts_of_workspace: ["roads"],
  });
});

neighbour("gsrest reads and writes grid sets and stores", [gsrest], async () => {
  expect(await script("call-gsrest.py", gsrest)).toEqual({
    // The client looks for the elements of GeoServer's own layers, also in GeoWebCache's answers.
    layers: [],
    stores: [],
    layer: expect.stringContaining("GeoServerLayer"),
    grid_sets: true,
    made_grid_set: [2056, [4000, 2000]],
    delete_grid_set: null,
    made_store: [true, 4096],
    delete_store: null,
  });
});

neighbour("GeoNode's client of GeoWebCache reads, writes and truncates", [geonode, restconfig], async () => {
  await isStored();
  expect(await isStored()).toBe(true);
  const env = { PYTHONPATH: `${geonode.directory}:${restconfig.directory}` };
  expect(await script("call-geonode-gwc.py", geonode, env)).toEqual({
    layer: 200,
    missing: 404,
    set_layer: 200,
    truncate_layer: null,
    truncate_missing: expect.stringContaining("Could not find layer ws:none"),
    truncate_all: null,
  });
  expect(await isStored()).toBe(false);
});
