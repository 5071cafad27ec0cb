import { pino } from "pino";
import { LOG_LEVELS, type LogOptions, parseLogOptions } from "../../lib/process/log-options.ts";
import type { Logger } from "../../lib/process/logger.ts";
import { textLine } from "../../lib/text/text-line.ts";
import type { Clock } from "../../lib/time/clock.ts";

type Fields = Readonly<Record<string, unknown>> | undefined;

/** Returns a logger that writes lines to stderr. Commands use stdout for their output. */
export function createLogger(clock: Clock): Logger {
  // The start has checked these variables, so they are valid.
  const options = parseLogOptions(process.env);
  const { level, format }: LogOptions = options.ok ? options.value : { level: "info", format: "auto" };
  const destination = pino.destination({ dest: 2, sync: true });
  const isText = format === "text" || (format === "auto" && process.stderr.isTTY);
  if (isText) {
    const write = (as: keyof Logger) => (sentence: string, fields?: Fields) => {
      if (LOG_LEVELS.indexOf(as) >= LOG_LEVELS.indexOf(level))
        destination.write(textLine(new Date(clock.now()), as, sentence, fields ?? {}));
    };
    return { info: write("info"), warn: write("warn"), error: write("error") };
  }
  const logger = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date(clock.now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  return {
    info: (sentence, fields) => logger.info(fields ?? {}, sentence),
    warn: (sentence, fields) => logger.warn(fields ?? {}, sentence),
    error: (sentence, fields) => logger.error(fields ?? {}, sentence),
  };
}
