import { GLOBAL_ROOTS } from "../fields/gwc-elements.ts";
import { type DocumentNode, fieldOf, type MapNode, map, numberOf, type RootedDocument } from "./document-node.ts";

/** GeoWebCache's lock providers. Nuthatch has its own locks, so the choice has no effect. */
const LOCKS: ReadonlySet<string> = new Set(["memoryLock", "nioLock", "noLock"]);

/** Returns settings with new values in place of present ones, in GeoWebCache's order. */
export function mergedSettings(present: MapNode | undefined, given: MapNode): RootedDocument {
  const names = [...given.fields, ...(present?.fields ?? [])].map(([name]) => name);
  const order = Object.keys(GLOBAL_ROOTS.global);
  const rank = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length);
  const sorted = [...new Set(names)].sort((a, b) => rank(a) - rank(b));
  const value = (name: string): DocumentNode | undefined => fieldOf(given, name) ?? (present && fieldOf(present, name));
  return { root: "global", node: map(sorted.map((name) => [name, value(name)] as const)) };
}

/** Returns why settings are refused. Undefined if they are accepted. */
export function settingsFault(node: MapNode): string | undefined {
  const timeout = fieldOf(node, "backendTimeout");
  if (timeout !== undefined && !(numberOf(timeout) > 0 && numberOf(timeout) <= 86_400))
    return `backendTimeout: expected 1 to 86400 seconds, got ${numberOf(timeout)}`;
  const lock = fieldOf(node, "lockProvider");
  return lock === undefined || lock === "" || LOCKS.has(String(lock))
    ? undefined
    : `lockProvider: expected ${[...LOCKS].join(", ")}, got ${JSON.stringify(lock)}`;
}
