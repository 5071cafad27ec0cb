import { isDeepStrictEqual } from "node:util";
import type { Configuration } from "../../configuration/configuration.ts";
import type { Machine } from "../../lib/machine.ts";
import type { Refusal } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { directoryOf, isRemote } from "../../store/store-options.ts";
import type { ServingProcesses } from "../process/process-methods.ts";
import { bucketFault, directoryFault, preparationFault, removeOldMarks, withMarks } from "../serving/store-faults.ts";

/**
 * Makes the directories of new stores, and checks that new buckets can be reached. Refuses a configuration with a store
 * that some process cannot use.
 */
export async function prepareStores(
  next: Pick<Configuration, "dataDir" | "stores" | "cluster">,
  present: Pick<Configuration, "stores">,
  serving: Pick<ServingProcesses, "storesFault">,
  machine: Machine,
): Promise<Result<null, Refusal>> {
  const added = next.stores.filter((store) => !present.stores.some((one) => isDeepStrictEqual(one, store)));
  for (const store of added) {
    const fault = isRemote(store) ? await bucketFault(machine, store) : await directoryFault(directoryOf(store));
    if (fault !== undefined) return refuse({ code: "bad_field", message: fault });
    const unprepared = preparationFault(machine, store, next.dataDir);
    if (unprepared !== undefined) return refuse({ code: "bad_field", message: `baseDirectory: ${unprepared}` });
  }
  if (next.cluster === undefined || isDeepStrictEqual(next.stores, present.stores)) return ok(null);
  await removeOldMarks(added);
  const fault = await withMarks(added, machine.random, (mark) => serving.storesFault(added, mark));
  return fault === undefined ? ok(null) : refuse({ code: "bad_field", message: fault });
}
