import type { ParametersId } from "../../layer/tile-set.ts";

/** A value for each parameter filter, and the parameters id of this combination in the store. */
export interface Combination {
  readonly parameters: Readonly<Record<string, string>>;
  readonly parametersId: ParametersId;
}

/** The fields of a job's request that select parameters. */
interface Named {
  readonly parameters: Combination["parameters"] | null;
  readonly parametersId: ParametersId | null;
  readonly combinations?: readonly Combination[];
}

/**
 * Returns the combinations that a job names, at least one. Undefined if the job is a truncate of all stored
 * combinations.
 */
export function combinationsOf({ parameters, parametersId, combinations }: Named): readonly Combination[] | undefined {
  if (combinations !== undefined) return combinations;
  return parameters === null || parametersId === null ? undefined : [{ parameters, parametersId }];
}
