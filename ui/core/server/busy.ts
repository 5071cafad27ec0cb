import { type ReadonlySignal, useSignal } from "@preact/signals";
import { asProblem, type Problem } from "./api.ts";

/** Work that a control does, such as a request. */
export interface Busy {
  readonly isBusy: ReadonlySignal<boolean>;
  /** Does the work. Resolves after its end, also if it fails. */
  readonly run: (work: () => Promise<void>) => Promise<void>;
}

/** Returns whether a control is at work, and a function that makes it work. `failed` is called if the work throws. */
export function useBusy(failed: (problem: Problem) => unknown): Busy {
  const isBusy = useSignal(false);
  const run = async (work: () => Promise<void>): Promise<void> => {
    isBusy.value = true;
    try {
      await work();
    } catch (error) {
      await failed(asProblem(error));
    } finally {
      isBusy.value = false;
    }
  };
  return { isBusy, run };
}
