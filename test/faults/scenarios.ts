import type { Scenario } from "./scenario.ts";
import { ACCESS } from "./scenarios/access.ts";
import { CONFIGURATION } from "./scenarios/configuration.ts";
import { EXCHANGE } from "./scenarios/exchange.ts";
import { JOBS } from "./scenarios/jobs.ts";
import { STARTS } from "./scenarios/starts.ts";
import { STORES } from "./scenarios/stores.ts";
import { TRUNCATIONS } from "./scenarios/truncations.ts";
import { USAGE } from "./scenarios/usage.ts";

export const SCENARIOS: readonly Scenario[] = [
  ...JOBS,
  ...TRUNCATIONS,
  ...CONFIGURATION,
  ...USAGE,
  ...ACCESS,
  ...EXCHANGE,
  ...STARTS,
  ...STORES,
];
