import { expect, test } from "vitest";
import { parseLogOptions } from "./log-options.ts";

test.each([
  [{}, "info", "auto"],
  [{ NUTHATCH_LOG_LEVEL: "WARN", NUTHATCH_LOG_FORMAT: "text" }, "warn", "text"],
  [{ LOG_FORMAT: "json" }, "info", "json"],
  [{ LOG_FORMAT: "combined" }, "info", "auto"],
  [{ LOG_FORMAT: "json", NUTHATCH_LOG_FORMAT: "text", NUTHATCH_LOG_LEVEL: "" }, "info", "text"],
])("%j is %s and %s", (env, level, format) => {
  expect(parseLogOptions(env)).toEqual({ ok: true, value: { level, format } });
});

test.each([
  [{ NUTHATCH_LOG_LEVEL: "debug" }, "NUTHATCH_LOG_LEVEL", 'expected one of info, warn, error, silent, got "debug"'],
  [{ NUTHATCH_LOG_FORMAT: "xml" }, "NUTHATCH_LOG_FORMAT", 'expected one of auto, text, json, got "xml"'],
])("%j is refused", (env, variable, message) => {
  expect(parseLogOptions(env)).toEqual({ ok: false, error: { variable, message } });
});
