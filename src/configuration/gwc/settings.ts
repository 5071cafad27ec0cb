import type { ServiceInformation } from "../../layer/service-information.ts";
import { defined } from "../../lib/defined.ts";
import type { Content } from "../../lib/is-map.ts";
import {
  FILE_SETTINGS_ELEMENTS,
  SERVICE_INFORMATION,
  SETTINGS_ELEMENTS,
} from "../fields/elements/settings-elements.ts";
import {
  type DocumentNode,
  fieldOf,
  type MapNode,
  map,
  mapOf,
  numberOf,
  type RootedDocument,
} from "./document-node.ts";
import { contentOf, mapTypes, nodeOf } from "./element.ts";

/** The settings as documents of GeoWebCache. `fields/settings-elements.ts` has the elements. */

export const GLOBAL_ROOTS = mapTypes({ global: SETTINGS_ELEMENTS });
/** The settings of a file. */
export const FILE_ROOTS = mapTypes({ global: FILE_SETTINGS_ELEMENTS });

/** GeoWebCache's lock providers. Nuthatch has its own locks, so the choice has no effect. */
const LOCKS: ReadonlySet<string> = new Set(["memoryLock", "nioLock", "noLock"]);

/** Returns settings with new values in place of present ones, in GeoWebCache's order. */
export function mergedSettings(present: MapNode | undefined, given: MapNode): RootedDocument {
  const names = [...given.fields, ...(present?.fields ?? [])].map(([name]) => name);
  const order = Object.keys(SETTINGS_ELEMENTS);
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

/**
 * Returns the description of the server in settings, in the form of the configuration file. Undefined without a
 * description.
 */
export function serviceContent(settings: MapNode | undefined): Content | undefined {
  const service = settings && mapOf(settings, "serviceInformation");
  return service && contentOf(SERVICE_INFORMATION, service);
}

/** Returns the description of the server as GeoWebCache's element. Undefined without a description. */
export const serviceNode = (information: ServiceInformation): DocumentNode | undefined =>
  Object.keys(information).length === 0 ? undefined : nodeOf(SERVICE_INFORMATION, information);

/** The settings that are keys of `compat`. */
const COMPAT = { wmtsCiteCompliant: "wmtsCiteCompliant", fullWMS: "fullWms" } as const;

/** Returns the keys of `compat` that settings have. */
export function compatContent(settings: MapNode | undefined): Content {
  return Object.fromEntries(
    Object.entries(COMPAT).flatMap(([name, key]) => {
      const given = settings && fieldOf(settings, name);
      return typeof given === "boolean" ? [[key, given]] : [];
    }),
  );
}

/** Returns the sections of the configuration file that settings replace, without the layers. */
export function serverContent(settings: MapNode | undefined): Content {
  const compat = Object.entries(compatContent(settings)).filter(([, isSet]) => isSet);
  return defined({
    serviceInformation: serviceContent(settings),
    compat: compat.length === 0 ? undefined : Object.fromEntries(compat),
  });
}
