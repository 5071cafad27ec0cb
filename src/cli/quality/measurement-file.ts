import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { HEADER, isOld, lineOf, type Measurement, parseLine } from "./measurements.ts";

/** Returns the measurements of a file, the oldest first. An absent file has none. */
export const readMeasurements = (file: string): readonly Measurement[] =>
  existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .flatMap((line) => parseLine(line) ?? [])
    : [];

/** Appends a measurement to a file. Measurements that are too old leave the file. */
export function appendMeasurement(file: string, measurement: Measurement): void {
  const kept = readMeasurements(file);
  const [first] = kept;
  if (first !== undefined && !isOld(first, measurement.atMs)) {
    const text = readFileSync(file, "utf8");
    appendFileSync(file, `${text.endsWith("\n") ? "" : "\n"}${lineOf(measurement)}\n`);
    return;
  }
  const lines = [...kept.filter((one) => !isOld(one, measurement.atMs)), measurement].map(lineOf);
  writeFileSync(`${file}.new`, `${[HEADER, ...lines].join("\n")}\n`);
  renameSync(`${file}.new`, file);
}
