import type { Logger } from "../../src/lib/process/logger.ts";

/** A log that nobody reads. */
export const silentLog: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined };
