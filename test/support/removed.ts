import { rmSync } from "node:fs";
import { codeOf } from "../../src/lib/error-code.ts";
import { until } from "./until.ts";

/** Removes a directory. Renderers end a moment after the server that was killed, and may write until then. */
export const removed = (directory: string): Promise<true> =>
  until(`${directory} is removed`, async () => {
    try {
      rmSync(directory, { recursive: true, force: true });
      return true;
    } catch (error) {
      if (codeOf(error) !== "ENOTEMPTY") throw error;
      return undefined;
    }
  });
