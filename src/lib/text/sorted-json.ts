import { isMap } from "../is-map.ts";

/** Returns a value as JSON with the keys of each object in order: equal values have equal texts. */
export const sortedJson = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) =>
    isMap(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member,
  ) ?? "";
