import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Scenario } from "../scenario.ts";
import type { Trial } from "../trial.ts";
import { change } from "./change.ts";
import { layersOf } from "./layers.ts";

const XML = { "Content-Type": "text/xml" };
const layerXml = (url: string, title: string): string =>
  `<wmsLayer><name>made</name><metaInformation><title>${title}</title></metaInformation><wmsUrl><string>${url}</string></wmsUrl></wmsLayer>`;
const putLayer = (title: string) => (trial: Trial) =>
  trial.send("PUT", "/rest/layers/made.xml", layerXml(trial.map.upstream.url, title), XML);
const titleOf = async (trial: Trial): Promise<string> => {
  const { status, text } = await trial.send("GET", "/rest/layers/made.xml");
  return status === 200 ? (/<title>(.*)<\/title>/.exec(text)?.[1] ?? "") : String(status);
};
const options = layersOf(["a"]);

const makeLayer = change({
  name: "make a layer",
  options,
  request: putLayer("new"),
  state: titleOf,
  before: "404",
  after: "new",
});
const changeLayer = change({
  name: "change a layer",
  options,
  prepare: putLayer("old"),
  request: putLayer("new"),
  state: titleOf,
  before: "old",
  after: "new",
});
const deleteLayer = change({
  name: "delete a layer",
  options,
  prepare: async (trial) => {
    await putLayer("old")(trial);
    await trial.seeded("made");
  },
  request: (trial) => trial.send("DELETE", "/rest/layers/made.xml"),
  state: titleOf,
  before: "old",
  after: "404",
});

const layerDocument = (trial: Trial, title: string) => ({
  title,
  source: { type: "wms", url: trial.map.upstream.url, layers: ["roads"] },
  gridSubsets: [{ gridSet: "EPSG:900913" }],
  formats: ["image/png"],
});
const documentTitle = async (trial: Trial): Promise<string> =>
  (await trial.get<{ configuration: { title: string } }>("/api/v1/layers/made"))?.configuration.title ?? "none";

/** The change and the truncation of the layer's tiles are answered together. */
const patchLayer = change({
  name: "change a layer and truncate it",
  options,
  prepare: async (trial) => {
    await trial.send("PUT", "/api/v1/layers/made", layerDocument(trial, "old"));
    await trial.seeded("made");
  },
  request: (trial) =>
    trial.truncating("made", () => trial.send("PATCH", "/api/v1/layers/made?truncate=true", { title: "new" })),
  state: documentTitle,
  before: "old",
  after: "new",
});

const gridSetXml = (levels: readonly number[]): string =>
  `<gridSet><name>grid</name><srs><number>3857</number></srs><extent><coords><double>-20037508</double><double>-20037508</double><double>20037508</double><double>20037508</double></coords></extent><resolutions>${levels.map((one) => `<double>${one}</double>`).join("")}</resolutions></gridSet>`;
const putGridSet = (levels: readonly number[]) => (trial: Trial) =>
  trial.send("PUT", "/rest/gridsets/grid.xml", gridSetXml(levels), XML);
const levelsOf = async (trial: Trial): Promise<string> => {
  const { status, text } = await trial.send("GET", "/rest/gridsets/grid.xml");
  return status === 200
    ? [...(/<resolutions>(.*?)<\/resolutions>/s.exec(text)?.[1]?.matchAll(/<double>/g) ?? [])].length.toString()
    : String(status);
};
const changeGridSet = change({
  name: "change a grid set",
  options,
  prepare: putGridSet([800]),
  request: putGridSet([800, 400]),
  state: levelsOf,
  before: "1",
  after: "2",
});
const deleteGridSet = change({
  name: "delete a grid set",
  options,
  prepare: putGridSet([800]),
  request: (trial) => trial.send("DELETE", "/rest/gridsets/grid.xml"),
  state: levelsOf,
  before: "1",
  after: "404",
});

const putStore = (blockSize: number) => (trial: Trial) =>
  trial.send(
    "PUT",
    "/rest/blobstores/other",
    `<FileBlobStore><id>other</id><enabled>true</enabled><baseDirectory>${trial.directory}/other</baseDirectory><fileSystemBlockSize>${blockSize}</fileSystemBlockSize></FileBlobStore>`,
    XML,
  );
const storeOf = async (trial: Trial): Promise<string> => {
  const { status, text } = await trial.send("GET", "/rest/blobstores/other.xml");
  return status === 200 ? (/<fileSystemBlockSize>(\d+)</.exec(text)?.[1] ?? "") : String(status);
};
const makeStore = change({
  name: "make a store",
  options,
  request: putStore(4096),
  state: storeOf,
  before: "404",
  after: "4096",
});
const deleteStore = change({
  name: "delete a store",
  options,
  prepare: putStore(4096),
  request: (trial) => trial.send("DELETE", "/rest/blobstores/other"),
  state: storeOf,
  before: "4096",
  after: "404",
});

const quotaOf = async (trial: Trial): Promise<string> =>
  /<value>(\d+)</.exec((await trial.send("GET", "/rest/diskquota.xml")).text)?.[1] ?? "none";
const putQuota = (value: number) => (trial: Trial) =>
  trial.send(
    "PUT",
    "/rest/diskquota.json",
    {
      gwcQuotaConfiguration: { enabled: true, globalQuota: { value, units: "MiB" } },
    },
    { "Content-Type": "application/json" },
  );
const changeQuota = change({
  name: "change the quota",
  options,
  prepare: putQuota(500),
  request: putQuota(700),
  state: quotaOf,
  before: "500",
  after: "700",
});

const layersIn = async (trial: Trial): Promise<string> => {
  const listed = await trial.get<{ layers: readonly { name: string }[] }>("/api/v1/layers");
  return String((listed?.layers ?? []).map(({ name }) => name).sort());
};

/** A reload of a file in which one layer is new and one was removed. After a start the file is in force. */
const reload: Scenario = {
  name: "reload",
  options: layersOf(["a", "b"]),
  begin: (trial) => {
    let status = 0;
    return {
      prepare: async () => {
        await trial.seeded("b");
        trial.configure(layersOf(["a", "c"])(trial.map.upstream.url).configuration);
        writeFileSync(join(trial.dataDir, "nuthatch.yaml"), layersOf(["a", "c"])(trial.map.upstream.url).configuration);
      },
      act: async () => {
        ({ status } = await trial.send("POST", "/rest/reload", "reload_configuration=1"));
        const found = await layersIn(trial);
        const allowed = status === 200 ? ["a,c"] : ["a,b", "a,c"];
        if (!trial.isOver && !allowed.includes(found))
          throw new Error(`after the answer ${status} the layers are ${found}`);
      },
      check: async () => ((await layersIn(trial)) === "a,c" ? [] : [`the layers are ${await layersIn(trial)}`]),
    };
  },
};

const GWC = (url: string): string => `<?xml version="1.0" encoding="utf-8"?>
<gwcConfiguration xmlns="http://geowebcache.org/schema/1.27.0">
  <!-- kept -->
  <layers>
    ${layerXml(url, "old")}
  </layers>
</gwcConfiguration>
`;

/** The file of GeoWebCache: its layers are those of the server, and its comments stay. */
const changeLayerInFile = change({
  name: "change a layer of geowebcache.xml",
  options: (url, directory) => {
    mkdirSync(join(directory, "gwc"), { recursive: true });
    writeFileSync(join(directory, "gwc", "geowebcache.xml"), GWC(url));
    return { env: { NUTHATCH_GEOWEBCACHE: join(directory, "gwc") } };
  },
  request: putLayer("new"),
  state: async (trial) => {
    const file = readFileSync(join(trial.directory, "gwc", "geowebcache.xml"), "utf8");
    const title = await titleOf(trial);
    return file.includes(`<title>${title}</title>`) && file.includes("<!-- kept -->")
      ? title
      : `${title} and in the file ${file}`;
  },
  before: "old",
  after: "new",
});

export const CONFIGURATION: readonly Scenario[] = [
  makeLayer,
  changeLayer,
  deleteLayer,
  patchLayer,
  changeGridSet,
  deleteGridSet,
  makeStore,
  deleteStore,
  changeQuota,
  reload,
  changeLayerInFile,
];
