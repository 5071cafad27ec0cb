import type { Scenario } from "../scenario.ts";
import type { Answer, Trial } from "../trial.ts";
import { isDone } from "./change.ts";
import { layersOf } from "./layers.ts";

const XML = { "Content-Type": "text/xml" };
const mass = (trial: Trial, body: string): Promise<Answer> => trial.send("POST", "/rest/masstruncate", body, XML);
const STYLES = 'parameterFilters: [{ type: string, key: STYLES, default: "", values: ["", a] }]';

/** Truncates layer `a`, reads one of its tiles, and waits until the space is reclaimed. */
function truncation(
  name: string,
  request: (trial: Trial) => Promise<Answer>,
  {
    options = layersOf(["a", "b"]),
    layers = ["a"],
  }: { options?: Scenario["options"]; layers?: readonly string[] } = {},
): Scenario {
  return {
    name,
    options,
    begin: (trial) => ({
      prepare: async () => {
        await trial.seeded("a");
        await trial.seeded("b");
      },
      act: async () => {
        const version = ++trial.map.version;
        if (isDone(await request(trial))) for (const layer of layers) trial.floors.set(layer, version);
        await trial.versionAt("a", 2, 1, 1);
      },
      check: async () => [],
    }),
  };
}

const RECLAIMED = layersOf(["a", "b"], "store: { undoSeconds: 0 }\n");
const ofLayer = (trial: Trial): Promise<Answer> =>
  mass(trial, "<truncateLayer><layerName>a</layerName></truncateLayer>");

const truncateLayer = truncation("truncate a layer", ofLayer);
const truncateAtOnce = truncation("truncate a layer without an undo", ofLayer, { options: RECLAIMED });
const truncateAll = truncation("truncate all layers", (trial) => mass(trial, "<truncateAll></truncateAll>"), {
  layers: ["a", "b"],
});

/** The tiles may be served until they are rendered again, so no tile is too old. */
const soft = truncation(
  "truncate a layer softly",
  (trial) => trial.send("POST", "/api/v1/truncations", { layer: "a", mode: "soft" }),
  {
    layers: [],
  },
);

const extent: Scenario = {
  name: "truncate an extent",
  options: layersOf(["a", "b"]),
  begin: (trial) => ({
    prepare: () => trial.seeded("a"),
    act: async () => {
      trial.map.version++;
      await mass(
        trial,
        "<truncateExtent><layerName>a</layerName><gridSetId>EPSG:900913</gridSetId><bounds><coords><double>0</double><double>0</double><double>20037508</double><double>20037508</double></coords></bounds></truncateExtent>",
      );
      await trial.when("the truncate has ended", async () => {
        const { text } = await trial.send("GET", "/rest/seed.json");
        return text === '{"long-array-array":[]}';
      });
    },
    check: async () => [],
  }),
};

/** Truncates tiles of one style; tiles of the other style stay. */
const parameters: Scenario = {
  name: "truncate parameters",
  options: layersOf(["a"], "", STYLES),
  begin: (trial) => {
    let isAnswered = false;
    return {
      prepare: async () => {
        await trial.seeded("a");
        await trial.seeded("a", { parameters: { STYLES: "a" }, zoomStop: 1 });
      },
      act: async () => {
        const request = { layer: "a", type: "truncateParameters", parameters: { STYLES: "a" } };
        isAnswered = isDone(await trial.send("POST", "/api/v1/truncations", request));
      },
      check: async () => {
        const usage = await trial.get<{ tileSets: readonly { parametersId: string; tiles: number }[] }>(
          "/api/v1/usage?by=tileSet",
        );
        const found = (usage?.tileSets ?? [])
          .map(({ parametersId, tiles }) => `${parametersId === "" ? "" : "a"} ${tiles}`)
          .sort();
        const [plain, style] = [" 21", "a 5"];
        const allowed = isAnswered ? [[plain]] : [[plain], [plain, style]];
        return allowed.some((one) => String(one) === String(found.filter((one) => !one.endsWith(" 0"))))
          ? []
          : [`tile sets: ${found}`];
      },
    };
  },
};

const orphans: Scenario = {
  name: "truncate orphans",
  options: layersOf(["a", "b"], "", STYLES),
  begin: (trial) => {
    let isAnswered = false;
    return {
      prepare: async () => {
        await trial.seeded("a");
        await trial.seeded("a", { parameters: { STYLES: "a" }, zoomStop: 1 });
        trial.configure(layersOf(["a", "b"])(trial.map.upstream.url).configuration);
        await trial.killAll();
        await trial.start();
      },
      act: async () => {
        isAnswered = isDone(await mass(trial, "<truncateOrphans><layerName>a</layerName></truncateOrphans>"));
      },
      check: async () => {
        const tiles = (await trial.get<{ total: { tiles: number } }>("/api/v1/usage"))?.total.tiles;
        return tiles === 21 || (!isAnswered && tiles === 26) ? [] : [`${tiles} tiles are left`];
      },
    };
  },
};

interface TruncationView {
  readonly id: number;
  readonly state: string;
}
const lastTruncation = async (trial: Trial): Promise<TruncationView | undefined> =>
  (await trial.get<{ truncations: readonly TruncationView[] }>("/api/v1/truncations?layer=a&limit=1"))?.truncations[0];

/** Ends a truncation in one of two ways, after tiles were stored since. */
function ending(name: string, request: (trial: Trial, id: number) => Promise<Answer>, state: string): Scenario {
  return {
    name,
    options: layersOf(["a", "b"]),
    begin: (trial) => {
      let id = 0;
      let isAnswered = false;
      return {
        prepare: async () => {
          await trial.seeded("a");
          trial.map.version++;
          await ofLayer(trial);
          await trial.seeded("a", { zoomStop: 1 });
          id = (await lastTruncation(trial))?.id ?? 0;
        },
        act: async () => {
          isAnswered = isDone(await request(trial, id));
        },
        check: async () => {
          const found = (await lastTruncation(trial))?.state ?? "none";
          const ends = found === "kept" ? !isAnswered : found === state;
          if (!ends) return [`the truncation is ${found} after the answer`];
          const read = await trial.versionAt("a", 2, 1, 1);
          const old = found === "undone" ? 1 : 2;
          const missing = await trial.versionAt("a", 1, 0, 0);
          return read === old && missing === old
            ? []
            : [`the tiles are of version ${read} and ${missing}, the truncation is ${found}`];
        },
      };
    },
  };
}

const undo = ending("undo a truncation", (trial, id) => trial.send("POST", `/api/v1/truncations/${id}/undo`), "undone");
const discard = ending(
  "delete a truncation",
  (trial, id) => trial.send("DELETE", `/api/v1/truncations/${id}`),
  "reclaimed",
);

export const TRUNCATIONS: readonly Scenario[] = [
  truncateLayer,
  truncateAtOnce,
  truncateAll,
  soft,
  extent,
  parameters,
  orphans,
  undo,
  discard,
];
