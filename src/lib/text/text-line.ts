import { jsonText } from "./json-text.ts";

/**
 * Characters that end a line, move the cursor of a terminal, or change the direction of text. JSON may contain them
 * unescaped.
 */
const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const escaped = (text: string): string =>
  text.replace(CONTROL, (one) =>
    Array.from({ length: one.length }, (_, i) => `\\u${one.charCodeAt(i).toString(16).padStart(4, "0")}`).join(""),
  );

/** A value that needs no quotes. */
const PLAIN = /^[^\s"=\\\p{Cc}\p{Cf}]+$/u;

/**
 * Returns a log line as text: time, level, sentence, then the fields as `key=value`. It is one line, even if a value
 * has line breaks.
 */
export function textLine(
  time: Date,
  level: string,
  sentence: string,
  fields: Readonly<Record<string, unknown>>,
): string {
  const pairs = Object.entries(fields).flatMap(([key, value]) =>
    value === undefined ? [] : [` ${key}=${escaped(valueText(value))}`],
  );
  return `${time.toISOString()} ${level.padEnd(5)} ${escaped(sentence)}${pairs.join("")}\n`;
}

function valueText(value: unknown): string {
  if (typeof value !== "string") return jsonText(value);
  return PLAIN.test(value) ? value : JSON.stringify(value);
}
