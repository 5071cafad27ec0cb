import type { Logger } from "../../src/lib/process/logger.ts";

/** A log without output. */
export const silentLog: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined };
