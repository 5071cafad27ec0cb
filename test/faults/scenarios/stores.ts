import { join } from "node:path";
import { type Receiver, startReceiver } from "../../support/network/receiver.ts";
import { scanStore } from "../../support/stores/store-scan.ts";
import { BUNDLES, HERE, type Place, POSTGRES, S3 } from "../places.ts";
import type { Scenario } from "../scenario.ts";
import { CONFIGURATION } from "./configuration.ts";
import { JOBS } from "./jobs.ts";
import { layersOf } from "./layers.ts";
import { TRUNCATIONS } from "./truncations.ts";

/** Scenarios whose state or whose tiles are somewhere else. */
const inPlace = (name: string, place: Place, names: readonly string[]): readonly Scenario[] =>
  [...JOBS, ...TRUNCATIONS, ...CONFIGURATION]
    .filter((scenario) => names.includes(scenario.name))
    .map((scenario) => ({ ...scenario, name: `${scenario.name} (${name})`, place }));

const COPIED = "copied";
const twoStores = (directory: string): string => `stores:
  - { id: disk, type: file, path: ${JSON.stringify(join(directory, "data", "tiles"))} }
  - { id: other, type: file, path: ${JSON.stringify(join(directory, COPIED, "tiles"))} }
`;

interface Copy {
  readonly state: string;
  readonly tiles: number;
  readonly total: number;
}

/** A layer is copied to another store while the server runs. An interrupted copy continues after the start. */
const copy: Scenario = {
  name: "copy to another store",
  place: HERE,
  options: (url, directory) => layersOf(["a"], twoStores(directory), "store: disk")(url),
  begin: (trial) => {
    let isAnswered = false;
    const copies = async () => (await trial.get<{ copies: readonly Copy[] }>("/api/v1/stores/copies"))?.copies ?? [];
    const isComplete = async (): Promise<boolean> => (await copies()).some(({ state }) => state === "complete");
    const begin = () => trial.send("POST", "/api/v1/stores/copies", { from: "disk", to: "other", layers: ["a"] });
    return {
      prepare: () => trial.seeded("a"),
      act: async () => {
        isAnswered = (await begin()).status === 202;
        if (isAnswered) await trial.when("the copy is complete", isComplete);
      },
      check: async () => {
        if ((await copies()).length === 0) {
          if (isAnswered) return ["the copy was answered, and is not there"];
          await begin();
        }
        await trial.when("the copy is complete", isComplete);
        const [from, to] = [scanStore(trial.dataDir), scanStore(join(trial.directory, COPIED))];
        return from.tiles === to.tiles && from.bytes === to.bytes ? [] : [`copied ${to.tiles} of ${from.tiles} tiles`];
      },
    };
  },
};

let receiver: Receiver | undefined;

/** The end of a job is delivered, by one identity however often. */
const webhook: Scenario = {
  name: "webhook",
  place: {
    ...HERE,
    async start() {
      receiver ??= await startReceiver();
      return undefined;
    },
  },
  options: (url) => layersOf(["a"], `webhooks: [{ url: "${receiver?.url}/in", secret: a-secret }]\n`)(url),
  begin: (trial) => {
    const from = receiver?.received.length ?? 0;
    let id: number | undefined;
    const ids = (): readonly string[] => {
      const bodies: readonly { id: string; job: { id: number; state: string } }[] =
        receiver?.received.slice(from).map(({ body }) => JSON.parse(body)) ?? [];
      return bodies.filter(({ job }) => job.id === id && job.state !== "running").map((one) => one.id);
    };
    return {
      act: async () => {
        id = await trial.job({ layer: "a", type: "seed", zoomStop: 1 });
        await trial.ended(id);
        if (id !== undefined) await trial.when("it is delivered", async () => ids().length > 0);
      },
      check: async () => {
        if (id === undefined) return [];
        await trial.when("it is delivered", async () => ids().length > 0);
        return new Set(ids()).size === 1 ? [] : [`the end was delivered as ${ids()}`];
      },
    };
  },
};

const STORE_CHANGES = [
  "seed",
  "reseed",
  "misses of users",
  "truncate a layer",
  "truncate a range",
  "undo a truncation",
];
const STATE_CHANGES = ["seed", "kill all", "truncate a layer", "undo a truncation", "run a schedule", "change a layer"];

export const STORES: readonly Scenario[] = [
  copy,
  webhook,
  ...inPlace("bundles", BUNDLES, STORE_CHANGES),
  ...inPlace("S3", S3, STORE_CHANGES),
  ...inPlace("PostgreSQL", POSTGRES, STATE_CHANGES),
];
