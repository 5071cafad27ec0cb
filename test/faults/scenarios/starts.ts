import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { changeState } from "../../support/server/state-database.ts";
import type { Scenario } from "../scenario.ts";
import type { Trial } from "../trial.ts";
import { layersOf } from "./layers.ts";

/** A start of the server after something has happened, until all tiles are counted and all jobs have ended. */
function start(name: string, prepare: (trial: Trial) => Promise<void>, tiles: (found: number) => boolean): Scenario {
  return {
    name,
    options: layersOf(["a", "b"], "store: { undoSeconds: 0 }\n"),
    begin: (trial) => ({
      prepare: async () => {
        await prepare(trial);
        await trial.killAll();
      },
      act: async () => {
        await trial.started();
        await trial.when("all is counted", async () => {
          const usage = await trial.get<{ layers: readonly { complete: boolean }[] }>("/api/v1/usage");
          const jobs = await trial.get<{ jobs: readonly { state: string }[] }>("/api/v1/jobs");
          return (
            usage?.layers.every(({ complete }) => complete) === true &&
            jobs?.jobs.every(({ state }) => state === "done" || state === "aborted") === true
          );
        });
      },
      check: async () => {
        const usage = await trial.get<{ total: { tiles: number } }>("/api/v1/usage");
        return usage !== undefined && tiles(usage.total.tiles) ? [] : [`${usage?.total.tiles} tiles`];
      },
    }),
  };
}

const removeState = ({ dataDir }: Trial): void => {
  for (const name of readdirSync(dataDir)) if (name.startsWith("state.db")) rmSync(join(dataDir, name));
};

const first = start(
  "first start",
  async (trial) => {
    await trial.killAll();
    rmSync(trial.dataDir, { recursive: true });
    trial.makeDataDir();
  },
  (tiles) => tiles === 0,
);

const inOrder = start(
  "start after a stop",
  async (trial) => {
    await trial.seeded("a");
    await trial.stop();
  },
  (tiles) => tiles === 21,
);

const afterKill = start(
  "start after a kill in a seed",
  async (trial) => {
    const id = await trial.job({ layer: "a", type: "seed" });
    await trial.when("a tile is stored", async () => {
      const job = await trial.get<{ tiles: { stored: number } }>(`/api/v1/jobs/${id}`);
      return (job?.tiles.stored ?? 0) > 0;
    });
  },
  (tiles) => tiles === 21,
);

/** The rename of the truncation's directory fails and all processes end: the start completes the truncation. */
const afterTruncation = start(
  "start after a kill in a truncation",
  async (trial) => {
    await trial.seeded("a");
    trial.map.version++;
    trial.control.armAt("kill", "rename");
    await trial.send("POST", "/rest/masstruncate", "<truncateLayer><layerName>a</layerName></truncateLayer>", {
      "Content-Type": "text/xml",
    });
    trial.control.disarm();
    trial.floors.set("a", 2);
  },
  // The oracle reads all tiles of the layer.
  (tiles) => tiles === 21,
);

const adoption = start(
  "adoption of a store",
  async (trial) => {
    await trial.seeded("a");
    await trial.seeded("b", { zoomStop: 1 });
    await trial.stop();
    removeState(trial);
    trial.accepted.clear();
    trial.hasLostState = true;
  },
  (tiles) => tiles === 26,
);

/** The start records the program that has opened the database. */
const upgrade = start(
  "start on the database of another program",
  async (trial) => {
    await trial.seeded("a");
    await trial.stop();
    changeState(trial.dataDir, "UPDATE schema_version SET program = '0.9.0'");
  },
  (tiles) => tiles === 21,
);

const ACCOUNT = { Authorization: `Basic ${Buffer.from("geowebcache:secured").toString("base64")}` };

/** The first start makes GeoWebCache's sample files, with its account. */
const firstOnGeoWebCache: Scenario = {
  name: "first start on a directory of GeoWebCache",
  options: (_, directory) => ({ env: { NUTHATCH_GEOWEBCACHE: join(directory, "gwc") } }),
  begin: (trial) => ({
    prepare: async () => {
      await trial.killAll();
      for (const name of [trial.dataDir, join(trial.directory, "gwc")]) rmSync(name, { recursive: true });
      trial.makeDataDir();
      trial.headers = ACCOUNT;
    },
    act: async () => {
      await trial.started();
      await trial.send("GET", "/rest/layers.json");
    },
    check: async () => {
      const layers = await trial.send("GET", "/rest/layers.json");
      const open = await trial.send("GET", "/rest/layers.json", undefined, {});
      return layers.text.includes("topp:states") && open.status === 401
        ? []
        : [`the layers: ${layers.status} ${layers.text}, without an account: ${open.status}`];
    },
  }),
};

export const STARTS: readonly Scenario[] = [
  first,
  firstOnGeoWebCache,
  inOrder,
  afterKill,
  afterTruncation,
  adoption,
  upgrade,
];
