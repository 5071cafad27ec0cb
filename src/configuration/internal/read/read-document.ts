import * as z from "zod";
import { isMap } from "../../../lib/is-map.ts";
import { ClusterSchema } from "../../fields/cluster-schema.ts";
import { type ConfigurationDocument, ConfigurationSchema, WebhookSchema } from "../../fields/configuration-schema.ts";
import { DatabaseSchema } from "../../fields/database-schema.ts";
import { map } from "../../fields/fields.ts";
import { GridSetSchema } from "../../fields/grid-set-schema.ts";
import { type LayerDocument, LayerSchema } from "../../fields/layer-schema.ts";
import { HtpasswdSchema, UserSchema } from "../../fields/server-schema.ts";
import { InspireSchema } from "../../fields/service-schema.ts";
import { StoreItemSchema } from "../../fields/stores-schema.ts";
import { checkLayerDefaults } from "./check-included.ts";
import type { Path } from "./problems.ts";
import { fittingParts, type Reading, readValue } from "./read-value.ts";

const SECTIONS = ConfigurationSchema.shape;
type Lists = "users" | "gridSets" | "databases" | "webhooks";
type Items<T> = readonly (T | undefined)[];

/**
 * The content of a configuration with all defaults. An item of a list that does not fit its schema is undefined, and a
 * section that does not fit has its defaults. So all other parts are still checked, and all problems are reported at
 * once.
 */
export type Document = Omit<
  ConfigurationDocument,
  Lists | "include" | "layerDefaults" | "layers" | "stores" | "htpasswd" | "cluster" | "inspire"
> & {
  readonly [L in Lists]: Items<ConfigurationDocument[L][number]>;
} & {
  readonly htpasswd: ConfigurationDocument["htpasswd"] | undefined;
  readonly cluster: ConfigurationDocument["cluster"] | undefined;
  readonly inspire: ConfigurationDocument["inspire"] | undefined;
  /** Undefined if the configuration has no section `layers`. */
  readonly layers: Items<NonNullable<ConfigurationDocument["layers"]>[number]> | undefined;
  /** The ids of all grid sets, including grid sets that do not fit their schema. */
  readonly gridSetIds: readonly string[];
  /** Undefined if the configuration has no section `stores`. */
  readonly stores: Items<NonNullable<ConfigurationDocument["stores"]>[number]> | undefined;
  /** The ids of all stores, including stores that do not fit their schema. Undefined without the section. */
  readonly storeIds: readonly string[] | undefined;
};

/** Checks the keys of the top level. */
const TopLevel = map(Object.fromEntries(Object.keys(SECTIONS).map((key) => [key, z.exactOptional(z.unknown())])));

/** Values for missing keys, which cause no further problem while the other keys of a user or a layer are checked. */
const ANY_USER = { roles: ["admin"] };
const ANY_LAYER = { source: { type: "wms", url: "http://localhost/" } };

/** Reads a layer, or the parts of it that fit. */
const readLayerParts: typeof readValue = (schema, content, path, reading) =>
  fittingParts(ANY_LAYER)(schema, withGroupSource(content), path, reading);

/** Returns a layer whose key `layers` is the source of a group. Returns any other value unchanged. */
function withGroupSource(content: unknown): unknown {
  if (!isMap(content) || content["layers"] === undefined || content["source"] !== undefined) return content;
  const { layers, ...others } = content;
  return { ...others, source: { type: "group", layers } };
}

export function readDocument(content: unknown, reading: Reading): Document {
  readValue(TopLevel, content, [], reading);
  const root = isMap(content) ? content : {};
  const isAbsent = (key: string): boolean => root[key] === undefined || root[key] === null;
  const section = <S extends z.ZodType>(key: string, schema: S): z.output<S> =>
    readValue(schema, root[key] ?? undefined, [key], reading) ?? schema.parse(undefined);
  const items = <S extends z.ZodType>(
    key: string,
    schema: S,
    read: typeof readValue = readValue,
  ): Items<z.output<S>> => {
    const list = root[key] ?? [];
    if (Array.isArray(list)) return list.map((item, i) => read(schema, item, [key, i], reading));
    reading.problems.expected([key], "a list", list);
    return [];
  };
  section("include", SECTIONS.include);
  checkLayerDefaults(root["layerDefaults"], ["layerDefaults"], reading);
  return {
    server: section("server", SECTIONS.server),
    config: section("config", SECTIONS.config),
    dataDir: section("dataDir", SECTIONS.dataDir),
    users: items("users", UserSchema, fittingParts(ANY_USER)),
    htpasswd: isAbsent("htpasswd") ? undefined : readValue(HtpasswdSchema, root["htpasswd"], ["htpasswd"], reading),
    gridSets: items("gridSets", GridSetSchema),
    gridSetIds: idsOf(root["gridSets"]),
    layers: isAbsent("layers") ? undefined : items("layers", LayerSchema, readLayerParts),
    diskQuota: section("diskQuota", SECTIONS.diskQuota),
    eviction: section("eviction", SECTIONS.eviction),
    jobs: section("jobs", SECTIONS.jobs),
    activity: section("activity", SECTIONS.activity),
    log: section("log", SECTIONS.log),
    compat: section("compat", SECTIONS.compat),
    serviceInformation: section("serviceInformation", SECTIONS.serviceInformation),
    inspire: isAbsent("inspire") ? undefined : readValue(InspireSchema, root["inspire"], ["inspire"], reading),
    state: section("state", SECTIONS.state),
    cluster: isAbsent("cluster") ? undefined : readValue(ClusterSchema, root["cluster"], ["cluster"], reading),
    databases: items("databases", DatabaseSchema),
    store: section("store", SECTIONS.store),
    stores: isAbsent("stores") ? undefined : items("stores", StoreItemSchema),
    storeIds: isAbsent("stores") ? undefined : idsOf(root["stores"]),
    purge: section("purge", SECTIONS.purge),
    webhooks: items("webhooks", WebhookSchema),
  };
}

/** Reads one layer at a path. Undefined if too little of it fits its schema for further checks. */
export const readLayer = (content: unknown, path: Path, reading: Reading): Items<LayerDocument>[number] =>
  readLayerParts(LayerSchema, content, path, reading);

const idsOf = (list: unknown): string[] =>
  (Array.isArray(list) ? list : []).flatMap((item: unknown) =>
    isMap(item) && typeof item["id"] === "string" ? [item["id"]] : [],
  );
