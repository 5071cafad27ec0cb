import { isRecord, jsonText } from "../../core/server/json.ts";

/** A value that differs between two documents. */
export interface Difference {
  /** The path, such as `source.url` or `gridSubsets[0].zoomStop`. Empty for the whole document. */
  readonly path: string;
  /** The value as JSON. Undefined if the document lacks it. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Returns the values that differ between two JSON documents, in the order of their keys. */
export function differences(before: unknown, after: unknown, path = ""): readonly Difference[] {
  if (isRecord(before) && isRecord(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return keys.flatMap((key) => differences(before[key], after[key], path === "" ? key : `${path}.${key}`));
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, i) => differences(before[i], after[i], `${path}[${i}]`)).flat();
  }
  const [from, to] = [textOf(before), textOf(after)];
  return from === to ? [] : [{ path, before: from, after: to }];
}

/** A key with null counts as absent, as on the server. */
const textOf = (value: unknown): string | undefined =>
  value === undefined || value === null ? undefined : jsonText(value);
