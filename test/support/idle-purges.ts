import type { Purges } from "../../src/purge/purges.ts";

/** Purges without a service. */
export const idlePurges: Pick<Purges, "during" | "layerChanged" | "areaChanged" | "isOn"> = {
  isOn: false,
  during: (_, change) => change(),
  layerChanged: () => undefined,
  areaChanged: () => undefined,
};
