import type { TileRect } from "../../grid/grid-set.ts";
import { coverageAt, type GridSubset } from "../../layer/layer.ts";
import type { Message } from "../../lib/channel.ts";
import { isMap } from "../../lib/is-map.ts";

/** Returns a message as nodes of version 2 read it: each grid subset has its tiles, by level, as `coverage`. */
export function forVersion2(message: Message): Message {
  // The layers of a configuration share their grid sets, and the copies have to, as each takes thousands of bytes.
  const copies = new Map<object, unknown>();
  const copyOf = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    const known = copies.get(value);
    if (known !== undefined) return known;
    const copy = withCoverage(value, copyOf);
    copies.set(value, copy);
    return copy;
  };
  switch (message.kind) {
    case "call":
    case "note":
      return { ...message, args: message.args.map(copyOf) };
    case "answer":
      return { ...message, value: copyOf(message.value) };
    default:
      return message;
  }
}

function withCoverage(value: object, copyOf: (value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (value instanceof Map) return new Map([...value].map(([key, one]) => [key, copyOf(one)]));
  if (!isPlain(value)) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, copyOf(one)]));
  if (!isSubset(value)) return copy;
  const coverage: TileRect[] = [];
  for (const z of value.gridSet.matrices.keys()) {
    const rect = coverageAt(value, z);
    if (rect !== undefined) coverage[z] = rect;
  }
  return { ...copy, coverage };
}

const isPlain = (value: object): boolean => Object.getPrototypeOf(value) === Object.prototype;

const isSubset = (value: object): value is GridSubset =>
  "gridSet" in value && isMap(value.gridSet) && "zoomStart" in value && "zoomStop" in value;
