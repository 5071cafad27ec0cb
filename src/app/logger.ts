import { pino } from "pino";
import type { Logger } from "../lib/logger.ts";

/** Returns a logger that writes JSON lines to stderr. stdout is for the output of commands. */
export function createLogger(): Logger {
  const level = process.env["NUTHATCH_LOG_LEVEL"] ?? "info";
  const logger = pino({ level, base: null }, pino.destination({ dest: 2, sync: true }));
  return {
    info: (sentence, fields) => logger.info(fields ?? {}, sentence),
    warn: (sentence, fields) => logger.warn(fields ?? {}, sentence),
    error: (sentence, fields) => logger.error(fields ?? {}, sentence),
  };
}
