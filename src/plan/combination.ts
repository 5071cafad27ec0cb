/** A value for each parameter filter, and the identity that it has in the store. */
export interface Combination {
  readonly parameters: Readonly<Record<string, string>>;
  readonly parametersId: string;
}

/** What of a job's request tells of parameters. */
interface Named {
  readonly parameters: Combination["parameters"] | null;
  readonly parametersId: string | null;
  readonly combinations?: readonly Combination[];
}

/** The combinations that a job names, at least one; undefined: it is a truncate of those that are kept. */
export function combinationsOf({ parameters, parametersId, combinations }: Named): readonly Combination[] | undefined {
  if (combinations !== undefined) return combinations;
  return parameters === null || parametersId === null ? undefined : [{ parameters, parametersId }];
}
