import { rmSync } from "node:fs";
import { scanStore } from "../../support/stores/store-scan.ts";
import type { Scenario } from "../scenario.ts";
import type { Trial } from "../trial.ts";
import { layersOf } from "./layers.ts";

interface Usage {
  readonly total: { readonly tiles: number; readonly bytes: number };
}
const usage = async (trial: Trial): Promise<Usage["total"]> =>
  (await trial.get<Usage>("/api/v1/usage"))?.total ?? { tiles: 0, bytes: Number.POSITIVE_INFINITY };

const JSON_BODY = { "Content-Type": "application/json" };

/** The quota becomes smaller than the tiles: the clean-up evicts until the usage is below. */
const cleanUp: Scenario = {
  name: "quota clean-up",
  options: layersOf(["a", "b"], "diskQuota: { count: content }\n"),
  begin: (trial) => {
    let isAnswered = false;
    const limit = 2_000;
    const isBelow = async (): Promise<boolean> => (await usage(trial)).bytes < limit;
    return {
      prepare: async () => {
        await trial.seeded("a");
        await trial.seeded("b");
      },
      act: async () => {
        const change = {
          enabled: true,
          cacheCleanUpFrequency: 1,
          cacheCleanUpUnits: "SECONDS",
          globalQuota: { value: limit, units: "B" },
        };
        const body = { gwcQuotaConfiguration: change };
        isAnswered = (await trial.send("PUT", "/rest/diskquota.json", body, JSON_BODY)).status === 200;
        if (isAnswered) await trial.when("the usage is below the quota", isBelow);
      },
      check: async () => {
        if (!isAnswered) return [];
        await trial.when("the usage is below the quota", isBelow);
        return [];
      },
    };
  },
};

/** Another program has removed a tile: the verification finds and repairs the difference. */
const repair: Scenario = {
  name: "verification with repair",
  options: layersOf(["a"]),
  begin: (trial) => ({
    prepare: async () => {
      await trial.seeded("a");
      const [file = ""] = scanStore(trial.dataDir).files;
      rmSync(file);
    },
    act: async () => {
      await trial.send("POST", "/api/v1/usage/verification?repair=true");
      await trial.when("it is verified", async () => {
        const view = await trial.get<{ state: string }>("/api/v1/usage/verification");
        return view !== undefined && view.state !== "running";
      });
    },
    settle: async () => {
      await trial.send("POST", "/api/v1/usage/verification?repair=true");
      await trial.when("it is verified", async () => {
        const view = await trial.get<{ state: string }>("/api/v1/usage/verification");
        return view !== undefined && view.state !== "running";
      });
      return [];
    },
    check: async () => ((await usage(trial)).tiles === 20 ? [] : [`${(await usage(trial)).tiles} tiles are counted`]),
  }),
};

export const USAGE: readonly Scenario[] = [cleanUp, repair];
